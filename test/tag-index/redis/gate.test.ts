import t from 'tap';
import { Gate } from '../../../src/tag-index/redis/gate.ts';

const REFUSALS = ["OOM command not allowed when used memory > 'maxmemory'.", 'MISCONF Redis is'];

t.test('who fails keeps the others away for a second, then one tries', async (t) => {
  const { gate, clock, changes } = open();
  t.equal(await gate.pass(() => Promise.reject(new Error('gone'))), null);
  t.equal(await gate.pass(() => Promise.resolve('asked')), null, 'nobody asks');
  clock.now += 1_000;
  let answer: (text: string) => void = () => undefined;
  const first = gate.pass(
    () =>
      new Promise<string>((resolve) => {
        answer = resolve;
      }),
  );
  t.equal(await gate.pass(() => Promise.resolve('asked')), null, 'one is enough');
  answer('there');
  t.equal(await first, 'there');
  t.equal(await gate.pass(() => Promise.resolve('asked')), 'asked');
  t.same(changes, ['Error: gone', 'null']);
});

t.test('a Redis that refuses to write is read on', async (t) => {
  for (const message of REFUSALS) {
    const { gate, clock, changes, refusals } = open();
    const write = (): Promise<never> => Promise.reject(new Error(message));
    t.equal(await gate.pass(write), null);
    t.equal(await gate.pass(() => Promise.resolve('read')), 'read');
    t.equal(await gate.pass(write), null);
    t.same(refusals, [`Error: ${message}`], 'it is told once');
    clock.now += 60_000;
    await gate.pass(write);
    t.equal(refusals.length, 2, 'and again after a minute');
    t.same(changes, []);
    await gate.pass(() => Promise.reject(new Error('gone')));
    clock.now += 1_000;
    await gate.pass(write);
    t.notOk(gate.isOpen, 'who refuses is there');
  }
});

function open() {
  const clock = { now: 5, nowMs: () => 0, monotonicMs: () => clock.now };
  const changes: string[] = [];
  const refusals: string[] = [];
  const gate = new Gate({
    clock,
    onChange: (error) => changes.push(String(error)),
    onRefusal: (error) => refusals.push(String(error)),
  });
  return { gate, clock, changes, refusals };
}
