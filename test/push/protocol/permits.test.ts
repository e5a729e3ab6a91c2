import t from 'tap';
import { DELIVERED } from '../../../src/domain/outcome.ts';
import type { QuotaMessage } from '../../../src/push/protocol/permits.ts';
import { Permits } from '../../../src/push/protocol/permits.ts';
import { runChunk } from '../../../src/push/worker/chunk/chunk-runner.ts';
import { until } from '../../support/poll.ts';
import {
  chunkTask,
  ManualClock,
  ScriptedSender,
  sceneOf,
  sumOf,
} from '../../support/scripted-sender.ts';

const first = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const EXCEEDED = {
  kind: 'throttled-target',
  reason: 'QUOTA_EXCEEDED',
  retryAfterMs: 60_000,
} as const;

function sceneOfPermits() {
  const clock = new ManualClock();
  const messages: QuotaMessage[] = [];
  return { clock, messages, permits: new Permits(clock, (message) => messages.push(message)) };
}

t.test('asks once, before it has run out; what is left goes back', (t) => {
  const { messages, permits } = sceneOfPermits();
  t.notOk(permits.admits);
  t.notOk(permits.admits);
  t.same(messages, [{ kind: 'wanted', permits: 32 }]);
  permits.hear({ kind: 'granted', permits: 32, forMs: 1_000 });
  for (let sends = 0; sends < 20; sends += 1) {
    t.ok(permits.admits);
    permits.take();
  }
  t.same(
    messages.splice(1),
    [{ kind: 'wanted', permits: 64 }],
    'half of it is used: more is asked',
  );
  permits.close();
  t.same(messages.splice(1), [{ kind: 'unused', permits: 12 }]);
  permits.close();
  t.equal(messages.length, 1);
  t.end();
});

t.test('permits end with their time, and with a pause', (t) => {
  const { clock, messages, permits } = sceneOfPermits();
  permits.hear({ kind: 'granted', permits: 32, forMs: 1_000 });
  t.ok(permits.admits);
  clock.pass(1_000);
  t.notOk(permits.admits);
  permits.hear({ kind: 'granted', permits: 32, forMs: 1_000 });
  permits.hear({ kind: 'wait', forMs: 5_000 });
  t.notOk(permits.admits);
  t.equal(permits.stoppedForMs, 5_000);
  t.same(messages.at(-1), { kind: 'unused', permits: 32 });
  clock.pass(5_000);
  t.notOk(permits.admits);
  t.same(messages.at(-1)?.kind, 'wanted', 'afterwards it asks again');
  t.end();
});

t.test('a 429 is not counted, a 404 is; the first one tells for how long', (t) => {
  const { messages, permits } = sceneOfPermits();
  permits.hear({ kind: 'granted', permits: 100, forMs: 1_000 });
  for (let sends = 0; sends < 4; sends += 1) permits.take();
  permits.settled(DELIVERED);
  permits.settled({ kind: 'gone', reason: 'UNREGISTERED', sinceMs: null });
  permits.settled({ kind: 'throttled-device', reason: 'QUOTA_EXCEEDED', retryAfterMs: 1_000 });
  permits.settled(EXCEEDED);
  permits.settled(EXCEEDED);
  t.same(messages, [
    { kind: 'unused', permits: 98 },
    { kind: 'exceeded', forMs: 60_000 },
  ]);
  t.end();
});

t.test('a chunk sends what it may, waits for more, and gives back when it is long', async (t) => {
  const sender = new ScriptedSender(() => DELIVERED);
  const scene = sceneOf(chunkTask(), { offsets: first(300), sender });
  const messages: QuotaMessage[] = [];
  const permits = new Permits(scene.clock, (message) => messages.push(message));
  const running = runChunk(chunkTask(), { ...scene.context, permits });
  await until('it asks', () => (messages.length === 1 ? true : null));
  t.equal(sender.sent.length, 0);
  permits.hear({ kind: 'granted', permits: 200, forMs: 1_000 });
  await until('it has sent them', () => (sender.sent.length === 200 ? true : null));
  permits.hear({ kind: 'wait', forMs: 30_000 });
  await running;
  t.match(sumOf(scene.reports), { delivered: 200, total: 256, releaseAfterMs: 30_000 });
  t.equal(sumOf(scene.reports).retries.length, 56, 'the rest of the half sent block');
});

t.test('a chunk whose quota is exceeded stops at once', async (t) => {
  const sender = new ScriptedSender(() => EXCEEDED, 10);
  const scene = sceneOf(chunkTask(), { offsets: first(300), sender });
  const messages: QuotaMessage[] = [];
  const permits = new Permits(scene.clock, (message) => messages.push(message));
  permits.hear({ kind: 'granted', permits: 300, forMs: 1_000 });
  await runChunk(chunkTask(), { ...scene.context, permits });
  t.ok(sender.sent.length <= 10, `${sender.sent.length} were under way`);
  t.match(
    messages.filter(({ kind }) => kind === 'exceeded'),
    [{ forMs: 60_000 }],
  );
  t.match(sumOf(scene.reports), { total: 0, releaseAfterMs: 60_000 }, 'as if never sent');
});
