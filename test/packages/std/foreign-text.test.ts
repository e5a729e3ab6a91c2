import t from 'tap';
import { foreignText } from '../../../packages/std/src/foreign-text.ts';

t.test('what a stranger wrote can be stored', (t) => {
  t.equal(foreignText('BadDeviceToken', 100), 'BadDeviceToken');
  t.equal(foreignText('a\0b\r\nc', 100), 'a\u{fffd}b\u{fffd}\u{fffd}c');
  t.equal(foreignText('long', 2), 'lo');
  t.equal(foreignText('x😀', 2), 'x\u{fffd}', 'no half of a pair');
  t.end();
});
