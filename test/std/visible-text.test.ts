import t from 'tap';
import { visibleText } from '../../src/std/visible-text.ts';

t.test('what a terminal would obey is shown, and lines and columns stay', (t) => {
  t.equal(visibleText('a\tb\nZoë 🎾'), 'a\tb\nZoë 🎾');
  t.equal(visibleText('\u001b[2J\u001b]0;x\u0007'), '\\u001b[2J\\u001b]0;x\\u0007');
  t.equal(visibleText('\r\u009b\u202e\u2066'), '\\u000d\\u009b\\u202e\\u2066');
  t.end();
});
