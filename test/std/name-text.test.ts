import t from 'tap';
import { isNameText, isStorable } from '../../src/std/name-text.ts';

t.test('a text that can be kept is not always a name', (t) => {
  for (const text of ['a\nb', 'a\tb', '\u001b[2J', '\u009b2J', '\u202e', '\u2028']) {
    t.equal(isStorable(text), true);
    t.equal(isNameText(text), false, encodeURI(text));
  }
  for (const text of ['\0', '\ud800']) {
    t.equal(isStorable(text), false);
    t.equal(isNameText(text), false);
  }
  for (const text of ['Breaking news', 'Zoë 🎾', 'שלום', '日本語']) t.equal(isNameText(text), true);
  t.end();
});
