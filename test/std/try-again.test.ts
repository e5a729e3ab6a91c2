import t from 'tap';
import { tryAgain } from '../../src/std/try-again.ts';

const isDeadlock = (error: unknown): boolean =>
  error instanceof Error && error.message === 'deadlock';

/** Work that fails so, one after the other, and then succeeds. */
function failing(...messages: readonly string[]) {
  const work = { tries: 0, run: () => Promise.resolve('') };
  work.run = () => {
    const message = messages[work.tries];
    work.tries += 1;
    return message === undefined ? Promise.resolve('done') : Promise.reject(new Error(message));
  };
  return work;
}

t.test('what passes is tried again, whole', async (t) => {
  const work = failing('deadlock', 'deadlock');
  t.equal(await tryAgain(3, isDeadlock, work.run), 'done');
  t.equal(work.tries, 3);
});

t.test('not more often than it may be', async (t) => {
  const work = failing('deadlock', 'deadlock', 'deadlock');
  await t.rejects(tryAgain(2, isDeadlock, work.run), { message: 'deadlock' });
  t.equal(work.tries, 2);
});

t.test('what does not pass is told at once', async (t) => {
  const work = failing('deadlock', 'a bug');
  await t.rejects(tryAgain(5, isDeadlock, work.run), { message: 'a bug' });
  t.equal(work.tries, 2);
});
