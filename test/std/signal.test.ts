import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { Signal } from '../../src/std/signal.ts';
import { oldOctetsOf } from '../support/old-space.ts';

t.test('whoever listens hears it every time, until it has had enough', (t) => {
  const signal = new Signal();
  const heard: string[] = [];
  const off = signal.on(() => heard.push('a'));
  signal.on(() => heard.push('b'));
  signal.fire();
  off();
  signal.fire();
  t.strictSame(heard, ['a', 'b', 'b']);
  t.end();
});

t.test('listeners that have left are not kept', async (t) => {
  const signal = new Signal();
  const ofSomeWhoCome = async (): Promise<void> => {
    const offs = Array.from({ length: 10 }, () => {
      const theirs = Array.from({ length: 300 }, (_, number) => ({ number }));
      return signal.on(() => theirs.reverse());
    });
    await nextTurn();
    for (const off of offs) off();
  };
  t.ok((await oldOctetsOf(ofSomeWhoCome)) < 10_000, 'of eighty thousand octets each time');
});
