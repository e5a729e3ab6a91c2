import t from 'tap';
import { Turn } from '../../../packages/http1-uws/src/turn.ts';

t.test('tasks wait until all is read, in their order', async (t) => {
  const done: string[] = [];
  const turn = new Turn(() => done.push('end'));
  t.notOk(turn.isReading);
  turn.begin();
  turn.after(() => {
    done.push('first');
    t.notOk(turn.isReading, 'a task may write');
    turn.after(() => done.push('of the next turn'));
  });
  turn.after(() => done.push('second'));
  t.ok(turn.isReading);
  await Promise.resolve();
  t.ok(turn.isReading, 'the parser may be below a microtask');
  t.same(done, []);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(done, ['end', 'first', 'second']);
  t.equal(turn.number, 1);
  await new Promise((resolve) => setImmediate(resolve));
  t.same(done, ['end', 'first', 'second', 'end', 'of the next turn']);
});
