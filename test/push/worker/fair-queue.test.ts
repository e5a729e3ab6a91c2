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
  /** Answers the one that has the room, until none waits. */
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
    fairQueue.join('big', false),
    fairQueue.join('big', false),
    fairQueue.join('big', false),
  ];
  const small = fairQueue.join('small', false);
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
    const [first, second] = [fairQueue.join('big', false), fairQueue.join('big', false)];
    wait('big2', second);
    await nextTurn();
    wait('big1', first);
    wait('big2', second);
    wait('big1', first);
    t.equal(await serveAll(), 'big2 big1 big1 big2');
  },
);

t.test('urgent ones get four turns of five, and all while nobody else waits', async (t) => {
  const { fairQueue, wait, serveAll } = makeQueue();
  for (let n = 1; n <= 3; n += 1) wait(`n${n}`, fairQueue.join('other', false));
  for (let n = 1; n <= 6; n += 1) wait(`u${n}`, fairQueue.join('urgent', true));
  for (let n = 1; n <= 3; n += 1) wait(`v${n}`, fairQueue.join('urgent too', true));
  t.equal(await serveAll(), 'u1 v1 u2 v2 n1 u3 v3 u4 u5 n2 u6 n3');
});

t.test('says for how long nobody could be given room', async (t) => {
  const { sender, clock, fairQueue, wait } = makeQueue();
  wait('a', fairQueue.join('a', false));
  await nextTurn();
  t.equal(fairQueue.withoutRoomForMs, 0, 'nobody waits');
  wait('b', fairQueue.join('b', false));
  await nextTurn();
  await nextTurn();
  clock.pass(3_000);
  t.equal(fairQueue.withoutRoomForMs, 3_000);
  sender.answer({ kind: 'delivered' });
  await nextTurn();
  t.equal(fairQueue.withoutRoomForMs, 0);
});
