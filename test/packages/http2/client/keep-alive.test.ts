import t from 'tap';
import { KeepAlive } from '../../../../packages/http2/src/client/keep-alive.ts';

/** A clock that the test moves. */
function makeKeepAlive(t: { teardown(restore: () => void): void }, pingsInARowMax = 2) {
  const { now } = performance;
  const clock = { nowMs: 5_000 };
  performance.now = () => clock.nowMs;
  t.teardown(() => {
    performance.now = now;
  });
  const options = { pingAfterSilenceMs: 100, pingTimeoutMs: 30, pingsInARowMax };
  const keepAlive = new KeepAlive(options);
  const after = (ms: number, isDoubtful = false) => {
    clock.nowMs += ms;
    return keepAlive.next(clock.nowMs, isDoubtful);
  };
  return { keepAlive, clock, after };
}

t.test('silence is answered with a PING, once', (t) => {
  const { after } = makeKeepAlive(t);
  t.equal(after(100), null);
  t.equal(after(1), 'ping');
  t.equal(after(30), null, 'it is waited for');
  t.equal(after(1), null, 'what has come may not be read yet');
  t.equal(after(1), 'give-up');
  t.equal(after(1), 'give-up', 'and so on');
  t.end();
});

t.test('a sign of life puts it off', (t) => {
  const { keepAlive, after } = makeKeepAlive(t);
  t.equal(after(99), null);
  keepAlive.heard();
  t.equal(after(100), null);
  t.equal(after(1), 'ping');
  t.end();
});

t.test('whatever comes puts the end off, the acknowledgement ends the question', (t) => {
  const { keepAlive, after } = makeKeepAlive(t);
  t.equal(after(101), 'ping');
  t.equal(after(20), null);
  keepAlive.heard();
  t.equal(after(20), null);
  t.equal(after(11), null);
  t.equal(after(1), 'give-up');
  keepAlive.acknowledged();
  keepAlive.heard();
  t.equal(after(0), null);
  t.end();
});

t.test('a process that was stopped reads before it gives a connection up', (t) => {
  const { keepAlive, after } = makeKeepAlive(t);
  t.equal(after(101), 'ping');
  t.equal(after(3_600_000), null, 'the answer may wait in the socket');
  keepAlive.acknowledged();
  keepAlive.heard();
  t.equal(after(1), null);
  t.end();
});

t.test('no more in a row than the peer puts up with; a request begins anew', (t) => {
  const { keepAlive, after } = makeKeepAlive(t, 2);
  for (let i = 0; i < 2; i += 1) {
    t.equal(after(101), 'ping');
    keepAlive.heard();
    keepAlive.acknowledged();
  }
  t.equal(after(1_000), null);
  keepAlive.requested();
  t.equal(after(0), 'ping');
  t.end();
});

t.test('a doubt is a reason before the silence is long', (t) => {
  const { keepAlive, after } = makeKeepAlive(t, 1);
  t.equal(after(1, true), 'ping');
  keepAlive.acknowledged();
  t.equal(after(1, true), null, 'within the limit');
  t.end();
});

t.test('how long nothing has come', (t) => {
  const { keepAlive, clock } = makeKeepAlive(t);
  t.equal(keepAlive.isSilentFor(0, clock.nowMs), true);
  t.equal(keepAlive.isSilentFor(10, clock.nowMs + 9), false);
  t.equal(keepAlive.isSilentFor(10, clock.nowMs + 10), true);
  t.end();
});
