import fc from 'fast-check';
import t from 'tap';
import { sortNumbers } from '../../src/std/sort-numbers.ts';

t.test('sorts short and long lists as `sort` does, in place', (t) => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 80, size: 'max' }), (numbers) => {
      const expected = [...numbers].sort((a, b) => a - b);
      t.equal(sortNumbers(numbers), numbers);
      t.strictSame(numbers, expected);
    }),
  );
  t.end();
});
