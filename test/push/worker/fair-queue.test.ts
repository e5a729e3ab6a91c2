import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { FairQueue } from '../../../src/push/worker/fair-queue.ts';
import { ManualClock, ScriptedSender } from '../../support/scripted-sender.ts';

/** A sender with room for one at a time, and the names of those who were given it. */
function makeQueue() {
  const sender = new ScriptedSender(() => null, 1);
  const clock = new ManualClock();
  const fairQueue = new FairQueue(sender, clock);
  const served: string[] = [];
  const wait = (name: string, place: ReturnType<FairQueue['join']>): void => {
    void fairQueue.wait(place).then(() => {
      served.push(name);
      sender.send({ payloadBytes: 0 }, name, 0, () => undefined);
    });
  };
  /** Whoever has the room is answered, until nobody waits. */
  const serveAll = async (): Promise<string> => {
    for (let turn = 0; turn < 30; turn += 1) {
      await nextTurn();
      sender.answer({ kind: 'delivered' });
    }
    return served.join(' ');
  };
  return { sender, clock, fairQueue, wait, serveAll };
}

t.test('notifications take turns, and of one the task that came first goes first', async (t) => {
  const { fairQueue, wait, serveAll } = makeQueue();
  const [first, second, third] = [
    fairQueue.join('big'),
    fairQueue.join('big'),
    fairQueue.join('big'),
  ];
  const small = fairQueue.join('small');
  wait('big3', third);
  wait('big1', first);
  wait('big2', second);
  wait('small', small);
  t.equal(await serveAll(), 'big1 small big2 big3');
});

t.test(
  'a task that is served and waits again is before later ones of its notification',
  async (t) => {
    const { fairQueue, wait, serveAll } = makeQueue();
    const [first, second] = [fairQueue.join('big'), fairQueue.join('big')];
    wait('big2', second);
    await nextTurn();
    wait('big1', first);
    wait('big2', second);
    wait('big1', first);
    t.equal(await serveAll(), 'big2 big1 big1 big2');
  },
);

t.test('says for how long nobody could be given room', async (t) => {
  const { sender, clock, fairQueue, wait } = makeQueue();
  wait('a', fairQueue.join('a'));
  await nextTurn();
  t.equal(fairQueue.withoutRoomForMs, 0, 'nobody waits');
  wait('b', fairQueue.join('b'));
  await nextTurn();
  await nextTurn();
  clock.pass(3_000);
  t.equal(fairQueue.withoutRoomForMs, 3_000);
  sender.answer({ kind: 'delivered' });
  await nextTurn();
  t.equal(fairQueue.withoutRoomForMs, 0);
});
