import t from 'tap';
import type { PaceMessage } from '../../../src/push/protocol/pace.ts';
import { Pace } from '../../../src/push/protocol/pace.ts';
import { runChunk } from '../../../src/push/worker/chunk/chunk-runner.ts';
import { until } from '../../support/poll.ts';
import {
  chunkTask,
  ManualClock,
  ScriptedSender,
  sceneOf,
  sumOf,
} from '../../support/scripted-sender.ts';

function sceneOfPace() {
  const clock = new ManualClock();
  const said: PaceMessage[] = [];
  const pace = new Pace(clock, (message) => said.push(message));
  /** Sends as many as may begin now. */
  const sendAll = (): number => {
    let sends = 0;
    for (; pace.admits; sends += 1) pace.take();
    return sends;
  };
  /** From now on, after so long. */
  const span = (sends: number, afterMs: number, lengthMs: number) => ({
    sends,
    startMs: clock.monotonicMs() + afterMs,
    endMs: clock.monotonicMs() + afterMs + lengthMs,
  });
  return { clock, said, pace, sendAll, span };
}

t.test('sends begin evenly over their span', (t) => {
  const { clock, pace, sendAll, span } = sceneOfPace();
  t.equal(sendAll(), 0, 'none before');
  t.equal(pace.nextInMs, Number.POSITIVE_INFINITY);
  pace.hear(span(10, 20, 100));
  t.equal(sendAll(), 0);
  t.equal(pace.nextInMs, 20);
  const counts: number[] = [];
  for (let tick = 0; tick < 6; tick += 1) {
    clock.pass(20);
    counts.push(sendAll());
  }
  t.strictSame(counts, [1, 2, 2, 2, 2, 1]);
  t.end();
});

t.test('asks again at once, but not while its own sends are late', (t) => {
  const { clock, said, pace, sendAll, span } = sceneOfPace();
  sendAll();
  sendAll();
  t.equal(said.length, 1, 'once');
  pace.hear(span(10, 0, 100));
  t.ok(pace.admits);
  t.equal(said.length, 2, 'while it has some');
  pace.hear(span(10, 100, 100));
  clock.pass(120);
  t.ok(pace.admits);
  t.equal(said.length, 2, 'it is late');
  t.equal(sendAll(), 13);
  t.equal(said.length, 3);
  t.end();
});

t.test('what is too late is lost, not made up for', (t) => {
  const { clock, pace, sendAll, span } = sceneOfPace();
  for (let n = 0; n < 5; n += 1) pace.hear(span(100, n * 100, 100));
  clock.pass(500);
  const sends = sendAll();
  t.ok(sends <= 250, `${sends} of 500 after a pause`);
  t.ok(sends >= 100, `${sends} of 500 after a pause`);
  t.end();
});

t.test('what is left when nothing more is sent goes back', (t) => {
  const { clock, said, pace, sendAll, span } = sceneOfPace();
  pace.hear(span(10, 0, 100));
  pace.hear(span(10, 100, 100));
  const endMs = clock.monotonicMs() + 100;
  clock.pass(50);
  t.equal(sendAll(), 6);
  pace.close();
  const spans = [
    { sends: 4, startMs: endMs - 40, endMs },
    { sends: 10, startMs: endMs, endMs: endMs + 100 },
  ];
  t.strictSame(said.at(-1), { kind: 'unused', spans });
  pace.hear(span(10, 200, 100));
  t.match(said.at(-1), { kind: 'unused', spans: [{ sends: 10 }] }, 'and what comes later');
  const { length } = said;
  t.notOk(pace.admits);
  pace.close();
  t.equal(said.length, length, 'nothing more is said');
  t.end();
});

t.test('a chunk is sent as its pace allows; given back, its rest waits', async (t) => {
  const { said, pace, clock, span } = sceneOfPace();
  const scene = sceneOf(chunkTask(), {
    offsets: Array.from({ length: 300 }, (_, n) => n),
    sender: new ScriptedSender(),
  });
  const running = runChunk(chunkTask(), { ...scene.context, clock, pace });
  await until('it asks', () => (said.length > 0 ? true : null));
  t.equal(scene.sender.sent.length, 0);
  pace.hear(span(200, 0, 0));
  await until('they are sent', () => (scene.sender.sent.length === 200 ? true : null));
  scene.control.giveBack(clock.monotonicMs(), null);
  await running;
  t.equal(scene.sender.sent.length, 200);
  t.match(sumOf(scene.reports), { delivered: 200 });
  t.match(said.at(-1), { kind: 'unused', spans: [] });
});
