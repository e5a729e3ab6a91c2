/** The play of a connection besides its end: window, PINGs, idle and age, lost answers. */

import t from 'tap';
import type { Simulator } from '../../../../packages/simulator/src/simulator.ts';
import { apnsToken, control, fcmHeaders, open, simulate } from '../peer.ts';
import { countEnds, dial } from '../witness.ts';

const WINDOW_OCTETS = 65_535;

async function stateOf(simulator: Simulator): Promise<object> {
  return (await control<{ apns: object }>(simulator, 'GET /state')).json.apns;
}

t.test('a window of 64 KB is refilled by eighths', async (t) => {
  const simulator = await simulate(t, {
    windowOctets: WINDOW_OCTETS,
    maxConcurrentStreams: 1_000,
  });
  const { push, witness } = await dial(t, simulator, { alert: 'x'.repeat(4_000) });
  const ends = await Promise.all(Array.from({ length: 100 }, (_, index) => push(index)));
  t.same(countEnds(ends), { 200: 100 });
  t.ok(witness.increments.length >= 10, `${witness.increments.length} refills of 400 KB`);
  for (const increment of witness.increments) {
    t.ok(increment > WINDOW_OCTETS / 8 && increment < WINDOW_OCTETS / 8 + 4_200, `${increment}`);
  }
  const wide = await dial(t, await simulate(t));
  await wide.push(1);
  t.ok((wide.witness.increments[0] ?? 0) > 1_000_000, 'otherwise it is too wide to matter');
});

t.test('a PING behind answers, one at a time', async (t) => {
  const simulator = await simulate(t, { pingsAfterAnswers: true });
  const { push, witness } = await dial(t, simulator);
  await push(0);
  await Promise.all(Array.from({ length: 30 }, (_, index) => push(index)));
  while (witness.pings < 2) await push(1);
  t.ok(witness.pings < 30);
  const quiet = await dial(t, await simulate(t));
  await quiet.push(1);
  await quiet.push(1);
  t.equal(quiet.witness.pings, 0);
});

t.test(
  'too many PINGs of a client end the connection; a request between allows more',
  async (t) => {
    const simulator = await simulate(t, { clientPingsMax: 3 });
    const { push, witness, closed } = await dial(t, simulator);
    for (let round = 0; round < 3; round += 1) {
      for (let ping = 0; ping < 3; ping += 1) witness.sendPing();
      t.match(await push(1), { status: 200 });
    }
    for (let ping = 0; ping < 4; ping += 1) witness.sendPing();
    await closed;
    t.same(witness.goAways, [['ENHANCE_YOUR_CALM', 5, 'too_many_pings']]);
  },
);

t.test('idle too long: GOAWAY session_timeout, but not while a stream is open', async (t) => {
  const simulator = await simulate(t, { idleMsMax: 50, silentShare: 1 });
  const { push, witness, closed } = await dial(t, simulator, { requestTimeoutMs: 500 });
  t.match(await push(1), { kind: 'failed', reason: 'no answer in time' });
  t.same(witness.goAways, []);
  await closed;
  t.same(witness.goAways[0], ['NO_ERROR', 1, 'session_timeout']);
});

t.test('too old: GOAWAY max_age, and what has begun is served', async (t) => {
  const simulator = await simulate(t, { latencyMs: 300 });
  const { push, witness, closed } = await dial(t, simulator);
  const first = push(1);
  while ((await control<{ count: number }>(simulator, received(1))).json.count === 0);
  await control(simulator, 'PUT /behaviour', { ageMsMax: 1 });
  t.match(await first, { status: 200 });
  await closed;
  t.same(witness.goAways[0], ['NO_ERROR', 1, 'max_age']);
});

const received = (number: number): string => `GET /received/apns/${apnsToken(number)}`;

t.test('an answer that is lost is known to be', async (t) => {
  const simulator = await simulate(t, { lostAnswerShare: 1, maxConcurrentStreams: 10 });
  const { push } = await dial(t, simulator, { requestTimeoutMs: 300 });
  t.match(await push(1), { kind: 'failed', isUnprocessed: false });
  t.match(await stateOf(simulator), { accepted: 1, lostAnswers: 1, rejected: {} });
  t.match((await control(simulator, received(1))).json, { accepted: 1, lostAnswers: 1 });
  await control(simulator, 'PUT /behaviour', { lostAnswerShare: 0 });
  t.match(await push(1), { status: 200 });
  t.match(await stateOf(simulator), { duplicates: 1, unexplainedDuplicates: 0 });
  t.match(await push(1), { status: 200 });
  t.match(await stateOf(simulator), { duplicates: 2, unexplainedDuplicates: 1 });
});

t.test('at FCM too', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.fcmOrigin);
  const headers = await fcmHeaders(session, simulator.accounts);
  await control(simulator, 'PUT /behaviour', { lostAnswerShare: 1 });
  const stream = session.request({ ':method': 'POST', ...headers });
  stream.end('{"message":{"token":"x"}}');
  while ((await control<{ count: number }>(simulator, 'GET /received/fcm/x')).json.count === 0);
  t.match((await control(simulator, 'GET /received/fcm/x')).json, { accepted: 1, lostAnswers: 1 });
  stream.close();
});

t.test('an answer is lost with its stream while its latency goes by', async (t) => {
  const simulator = await simulate(t, { latencyMs: 60_000, maxConcurrentStreams: 10 });
  const { push, witness } = await dial(t, simulator, { requestTimeoutMs: 200 });
  t.match(await push(1), { kind: 'failed', isUnprocessed: false });
  const lost = async () =>
    (await control<{ lostAnswers: number }>(simulator, received(1))).json.lostAnswers;
  while ((await lost()) === 0);
  void push(2);
  while ((await control<{ count: number }>(simulator, received(2))).json.count === 0);
  witness.destroy('lost');
  while ((await control<{ lostAnswers: number }>(simulator, received(2))).json.lostAnswers === 0);
  t.match(await stateOf(simulator), { accepted: 2, lostAnswers: 2 });
});
