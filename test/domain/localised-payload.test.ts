import t from 'tap';
import { LANGUAGES_MAX, localise } from '../../src/domain/localised-payload.ts';
import { givenPayload, sendablePayload } from '../../src/domain/payload.ts';

const LANGUAGES = { 'lang-de': 'de', 'lang-at': 'de', 'lang-fr': 'fr', default: 'en' };

const read = (given: Readonly<Record<string, unknown>>) => {
  const read = givenPayload(given);
  return read.ok ? sendablePayload(read.given) : read;
};
const faults = (given: Readonly<Record<string, unknown>>): readonly string[] => {
  const payload = read(given);
  return payload.ok ? [] : payload.faults.map(({ path, message }) => `${path} ${message}`);
};

t.test('a payload for each tag, in the order of the tags, and one for the others', (t) => {
  const payload = read({
    languages: LANGUAGES,
    title: { en: 'Goal!', de: 'Tor!' },
    body: { en: 'one', de: 'eins', fr: 'un' },
    sound: 'horn',
    badge: 1,
    match: 'FCB',
  });
  const rest = { sound: 'horn', badge: 1, data: { match: 'FCB' } };
  const german = { title: 'Tor!', message: 'eins', ...rest };
  t.same(payload, {
    ok: true,
    payload: {
      title: 'Goal!',
      message: 'one',
      ...rest,
      languages: [
        { tagSourceId: 'lang-de', payload: german },
        { tagSourceId: 'lang-at', payload: german },
        { tagSourceId: 'lang-fr', payload: { title: 'Goal!', message: 'un', ...rest } },
      ],
    },
  });
  t.end();
});

t.test('without maps, or without languages, nothing is new', (t) => {
  t.same(localise({ title: 'a', languages: LANGUAGES }), { kind: 'plain' });
  t.same(read({ title: 'a', languages: LANGUAGES }), {
    ok: true,
    payload: { title: 'a', data: { languages: LANGUAGES } },
  });
  t.same(faults({ title: { en: 'a' } }), ['payload.title must be a text.']);
  t.same(faults({ title: { en: 'a' }, languages: ['en'] }), ['payload.title must be a text.']);
  t.end();
});

t.test('every fault is told where it is', (t) => {
  const title = { en: 'Goal!' };
  t.same(faults({ title, languages: { 'lang-de': 'de' } }), [
    'payload.languages has no default: the language of devices that have none of the tags.',
    'payload.title is in "en", which is no language of payload.languages.',
    'payload.title has no text in the default language.',
  ]);
  t.match(faults({ title, languages: { default: 'en', 'lang-de': 1 } }), [/language of each tag/]);
  t.match(faults({ title: { en: 'a', it: 'b' }, languages: LANGUAGES }), [/title is in "it"/]);
  t.match(faults({ title: { de: 'Tor!' }, languages: LANGUAGES }), [
    /title has no text in the def/,
  ]);
  t.match(faults({ title: { en: 'a', de: {} }, languages: LANGUAGES }), [/title must be a text/]);
  const many = Array.from({ length: LANGUAGES_MAX + 1 }, (_, n) => [`lang-${n}`, 'en']);
  t.match(faults({ title, languages: { ...Object.fromEntries(many), default: 'en' } }), [
    /more than 32 tags/,
  ]);
  t.end();
});

t.test('names of objects are no languages', (t) => {
  const languages = { default: 'en', 'lang-x': 'constructor', __proto: 'toString' };
  t.match(read({ title: { en: 'a' }, languages }), {
    ok: true,
    payload: { title: 'a', languages: [{ payload: { title: 'a' } }, { payload: { title: 'a' } }] },
  });
  t.end();
});

t.test('by the attribute: each text in the longest prefix that it has', (t) => {
  const payload = read({
    languages: '@language',
    title: { default: 'Goal!', de: 'Tor!', de_ch: 'Goal, gäll!' },
    body: { default: 'one', de: 'eins', fr: 'un' },
    match: 'FCB',
  });
  const data = { match: 'FCB' };
  t.same(payload, {
    ok: true,
    payload: {
      title: 'Goal!',
      message: 'one',
      data,
      languages: [
        { language: 'de', payload: { title: 'Tor!', message: 'eins', data } },
        { language: 'de-CH', payload: { title: 'Goal, gäll!', message: 'eins', data } },
        { language: 'fr', payload: { title: 'Goal!', message: 'un', data } },
      ],
    },
  });
  t.same(
    read({ languages: '@language', title: 'a' }),
    { ok: true, payload: { title: 'a', data: { languages: '@language' } } },
    'without maps it is data',
  );
  t.end();
});

t.test('by the attribute: every fault is told where it is', (t) => {
  const languages = '@language';
  t.match(faults({ languages, title: { default: 'a', german: 'b' } }), [
    /^payload\.title\.german is no language tag/,
  ]);
  t.match(faults({ languages, title: { default: 'a', de_CH: 'b', 'de-CH': 'c' } }), [
    /^payload\.title\.de-CH is the language de-CH again/,
  ]);
  t.match(faults({ languages, title: { de: 'a' } }), [/^payload\.title has no default/]);
  t.match(faults({ languages, title: { default: 'a', de: {} } }), [/title must be a text/]);
  const regions = Array.from({ length: 33 }, (_, n) => `de-${100 + n}`);
  const many = Object.fromEntries(['default', ...regions].map((language) => [language, 'a']));
  t.match(faults({ languages, title: many }), [/more than 32 languages/]);
  t.end();
});
