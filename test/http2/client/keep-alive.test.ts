import t from 'tap';
import { KeepAlive } from '../../../src/http2/client/keep-alive.ts';

/** A connection that has just been asked for a sign of life, and when. */
function asked(): { keepAlive: KeepAlive; askedAtMs: number } {
  const keepAlive = new KeepAlive({
    pingAfterSilenceMs: 60_000,
    pingTimeoutMs: 10_000,
    pingsInARowMax: 1,
  });
  const askedAtMs = performance.now() + 60_001;
  t.equal(keepAlive.next(askedAtMs, false), 'ping');
  return { keepAlive, askedAtMs };
}

t.test('a process that was stopped reads before it gives a connection up', async (t) => {
  const { keepAlive, askedAtMs } = asked();
  t.equal(keepAlive.next(askedAtMs + 3_600_000, false), null, 'the answer may wait in the socket');
  keepAlive.acknowledged();
  keepAlive.heard();
  t.not(keepAlive.next(askedAtMs + 3_601_000, false), 'give-up');
});

t.test('no sign of life in time', async (t) => {
  const { keepAlive, askedAtMs } = asked();
  t.equal(keepAlive.next(askedAtMs + 10_000, false), null);
  t.equal(keepAlive.next(askedAtMs + 10_001, false), null);
  t.equal(keepAlive.next(askedAtMs + 11_000, false), 'give-up');
});
