import t from 'tap';
import { NO_NUMBERS, numbersAfter, numbersOfBoth } from '../../src/devices/numbers.ts';
import { entryOf } from '../../src/domain/device-numbers.ts';

const [five, six] = [entryOf(1, 5), entryOf(1, 6)];
const other = entryOf(2, 0);

t.test('a device has one number of an attribute, and the others stay', (t) => {
  t.same(numbersAfter([five, other], new Map([[1, six]])).numbers, [six, other]);
  t.same(numbersAfter([other], new Map([[1, six]])).numbers, [six, other], 'sorted');
  t.same(numbersAfter([five, other], new Map([[1, null]])).numbers, [other]);
  t.end();
});

t.test('what is so already is no change', (t) => {
  t.notOk(numbersAfter([five], NO_NUMBERS).isChanged);
  t.notOk(numbersAfter([five], new Map([[1, five]])).isChanged);
  t.notOk(numbersAfter([five], new Map([[2, null]])).isChanged);
  t.ok(numbersAfter([five], new Map([[1, six]])).isChanged);
  t.end();
});

t.test('of two devices that become one the first one wins', (t) => {
  t.same(numbersOfBoth([six], [five, other]), [six, other]);
  t.same(numbersOfBoth([], [five]), [five]);
  t.end();
});
