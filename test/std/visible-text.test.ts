import t from 'tap';
import { hasControls, tableRow, visibleField, visibleText } from '../../src/std/visible-text.ts';

t.test('what a terminal would obey is shown, and lines and columns stay', (t) => {
  t.equal(visibleText('a\tb\nZoë 🎾'), 'a\tb\nZoë 🎾');
  t.equal(visibleText('\u001b[2J\u001b]0;x\u0007'), '\\u001b[2J\\u001b]0;x\\u0007');
  t.equal(visibleText('\r\u009b\u202e\u2066'), '\\u000d\\u009b\\u202e\\u2066');
  t.equal(visibleText('a\u2028b\u2029c'), 'a\\u2028b\\u2029c', 'they are line breaks for some');
  t.end();
});

t.test('a field forges neither a row nor a column', (t) => {
  t.equal(visibleField('a\nb\tc'), 'a\\u000ab\\u0009c');
  t.equal(tableRow(7, 'x\n8\tforged', '–'), '7\tx\\u000a8\\u0009forged\t–');
  t.end();
});

t.test('names that a terminal would obey are known', (t) => {
  for (const text of ['a\nb', '\t', '\u0000', '\u007f', '\u0085', '\u009b', '\u202e', '\u2028']) {
    t.equal(hasControls(text), true, encodeURI(text));
    t.equal(hasControls(text), true, 'and again');
  }
  for (const text of ['', 'Zoë 🎾', 'שלום\u200f', 'a\u00a0b']) t.equal(hasControls(text), false);
  t.end();
});
