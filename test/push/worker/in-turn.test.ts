import t from 'tap';
import { inTurn } from '../../../src/push/worker/in-turn.ts';

t.test('one at a time, in order; one that fails stops no other', async (t) => {
  let underWay = 0;
  const begun: number[] = [];
  const work = inTurn(async (asked: number) => {
    begun.push(asked);
    underWay += 1;
    t.equal(underWay, 1);
    await new Promise(setImmediate);
    underWay -= 1;
    if (asked === 2) throw new Error('away');
    return asked * 10;
  });
  const done = await Promise.allSettled([1, 2, 3].map(work));
  t.strictSame(begun, [1, 2, 3]);
  t.match(done, [{ value: 10 }, { status: 'rejected' }, { value: 30 }]);
});
