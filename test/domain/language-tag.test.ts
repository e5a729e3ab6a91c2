import t from 'tap';
import { languageTag, longestPrefix } from '../../src/domain/language-tag.ts';

t.test('a language tag has the form of the attribute, or is none', (t) => {
  t.equal(languageTag('de_ch'), 'de-CH');
  t.equal(languageTag('ZH-hant-tw'), 'zh-Hant-TW');
  for (const text of ['', 'german', 'e', 'de-CH-1996', 'und', '*', 'toString']) {
    t.equal(languageTag(text), null, text);
  }
  t.end();
});

t.test('the longest prefix of subtags', (t) => {
  const languages = new Set(['de', 'zh-Hant', 'de-CH']);
  t.equal(longestPrefix('de-CH', languages), 'de-CH');
  t.equal(longestPrefix('de-Latn-CH', languages), 'de');
  t.equal(longestPrefix('zh-Hant-TW', languages), 'zh-Hant');
  t.equal(longestPrefix('zh-TW', languages), null);
  t.equal(longestPrefix('den', languages), null, 'subtags, not letters');
  t.end();
});
