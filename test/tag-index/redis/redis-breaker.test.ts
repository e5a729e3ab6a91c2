import t from 'tap';
import { RedisBreaker } from '../../../src/tag-index/redis/redis-breaker.ts';

const REFUSALS = ["OOM command not allowed when used memory > 'maxmemory'.", 'MISCONF Redis is'];

t.test('who fails keeps the others away for a second, then one tries', async (t) => {
  const { breaker, clock, changes } = open();
  t.equal(await breaker.run(() => Promise.reject(new Error('gone'))), null);
  t.equal(await breaker.run(() => Promise.resolve('asked')), null, 'nobody asks');
  clock.now += 1_000;
  let answer: (text: string) => void = () => undefined;
  const first = breaker.run(
    () =>
      new Promise<string>((resolve) => {
        answer = resolve;
      }),
  );
  t.equal(await breaker.run(() => Promise.resolve('asked')), null, 'one is enough');
  answer('there');
  t.equal(await first, 'there');
  t.equal(await breaker.run(() => Promise.resolve('asked')), 'asked');
  t.same(changes, ['Error: gone', 'null']);
});

t.test('a Redis that refuses to write is read on', async (t) => {
  for (const message of REFUSALS) {
    const { breaker, clock, changes, refusals } = open();
    const write = (): Promise<never> => Promise.reject(new Error(message));
    t.equal(await breaker.run(write), null);
    t.equal(await breaker.run(() => Promise.resolve('read')), 'read');
    t.equal(await breaker.run(write), null);
    t.same(refusals, [`Error: ${message}`], 'it is told once');
    clock.now += 60_000;
    await breaker.run(write);
    t.equal(refusals.length, 2, 'and again after a minute');
    t.same(changes, []);
    await breaker.run(() => Promise.reject(new Error('gone')));
    clock.now += 1_000;
    await breaker.run(write);
    t.notOk(breaker.isOpen, 'who refuses is there');
  }
});

function open() {
  const clock = { now: 5, nowMs: () => 0, monotonicMs: () => clock.now };
  const changes: string[] = [];
  const refusals: string[] = [];
  const breaker = new RedisBreaker({
    clock,
    onChange: (error) => changes.push(String(error)),
    onRefusal: (error) => refusals.push(String(error)),
  });
  return { breaker, clock, changes, refusals };
}
