/**
 * Every end of a connection, as our client meets it: what is promised, what is served, what the
 * record says of it.
 */

import t from 'tap';
import type { Ends } from '../../../../packages/simulator/src/faults/behaviour.ts';
import {
  KIND_BEHAVIOUR,
  mergeBehaviour,
} from '../../../../packages/simulator/src/faults/behaviour.ts';
import type { EndKind } from '../../../../packages/simulator/src/faults/connection-end.ts';
import {
  drawEnd,
  TAIL_REQUESTS,
} from '../../../../packages/simulator/src/faults/connection-end.ts';
import type { BehaviourChange } from '../../../../packages/simulator/src/options.ts';
import type { Simulator } from '../../../../packages/simulator/src/simulator.ts';
import type { Teardown } from '../peer.ts';
import { control, simulate } from '../peer.ts';
import { countEnds, dial } from '../witness.ts';

/** The request at which the end comes. */
const AT = 20;
const STREAM_ID_AT = 2 * AT - 1;
const STREAM_ID_BEFORE_TAIL = STREAM_ID_AT - 2 * TAIL_REQUESTS;
const PUSHES = 40;
const SHUTDOWN = '{"reason":"Shutdown"}';

interface State {
  readonly accepted: number;
  readonly lostAnswers: number;
  readonly rejected: Readonly<Record<string, number>>;
}

async function stateOf(simulator: Simulator): Promise<State> {
  return (await control<{ apns: State }>(simulator, 'GET /state')).json.apns;
}

/** Forty pushes in one piece on a connection that ends at the twentieth. */
async function play(t: Teardown, kind: EndKind, behaviour: BehaviourChange = {}) {
  const simulator = await simulate(t, {
    ...behaviour,
    ends: { [kind]: AT },
    maxConcurrentStreams: 1_000,
  });
  const { push, closed, witness } = await dial(t, simulator);
  const pushes = Array.from({ length: PUSHES }, (_, index) => push(index));
  const ends = await Promise.all(pushes);
  return { simulator, ends: countEnds(ends), closed, goAways: witness.goAways, witness };
}

t.test('GOAWAY: those up to the last are served, the others refused', async (t) => {
  const { simulator, ends, closed, goAways } = await play(t, 'goAway');
  t.same(ends, { 200: AT, unprocessed: PUSHES - AT });
  t.same(goAways[0], ['NO_ERROR', STREAM_ID_AT, SHUTDOWN]);
  await closed;
  t.match(await stateOf(simulator), { accepted: AT, lostAnswers: 0, rejected: {} });
});

t.test('two GOAWAYs: the first only warns', async (t) => {
  // With its streams open the client stays to hear the second.
  const { simulator, ends, closed, goAways } = await play(t, 'goAwayTwice', { latencyMs: 500 });
  // All were on their way when the client heard the first.
  t.same(ends, { 200: PUSHES });
  await closed;
  t.same(goAways.slice(0, 2), [
    ['NO_ERROR', 2 ** 31 - 1, SHUTDOWN],
    ['NO_ERROR', 2 * PUSHES - 1, SHUTDOWN],
  ]);
  t.match(await stateOf(simulator), { accepted: PUSHES });
});

t.test('two GOAWAYs, falling: what lies between was never looked at', async (t) => {
  const { simulator, ends, closed, goAways } = await play(t, 'goAwayFalling');
  const served = AT - TAIL_REQUESTS;
  t.same(ends, { 200: served, unprocessed: PUSHES - served });
  await closed;
  t.same(goAways.slice(0, 2), [
    ['NO_ERROR', STREAM_ID_AT, SHUTDOWN],
    ['NO_ERROR', STREAM_ID_BEFORE_TAIL, SHUTDOWN],
  ]);
  t.match(await stateOf(simulator), { accepted: served, lostAnswers: 0 });
});

t.test('GOAWAY below requests that came: not a word about them but that', async (t) => {
  const { simulator, ends, closed, goAways, witness } = await play(t, 'goAwayUnprocessed');
  const served = AT - TAIL_REQUESTS;
  t.same(ends, { 200: served, unprocessed: PUSHES - served });
  t.same(goAways[0], ['NO_ERROR', STREAM_ID_BEFORE_TAIL, SHUTDOWN]);
  t.same(witness.resets, []);
  await closed;
  t.match(await stateOf(simulator), { accepted: served, lostAnswers: 0 });
});

for (const [kind, code, words] of [
  ['goAwayCalm', 'ENHANCE_YOUR_CALM', 'too_many_pings'],
  ['goAwayInternal', 'INTERNAL_ERROR', ''],
] as const) {
  t.test(`GOAWAY ${code}: what was answered arrives, then it is over`, async (t) => {
    const { simulator, ends, closed, goAways } = await play(t, kind);
    const served = AT - TAIL_REQUESTS;
    t.same(ends, { 200: served, unprocessed: PUSHES - served });
    t.same(goAways, [[code, STREAM_ID_BEFORE_TAIL, words]]);
    await closed;
    t.match(await stateOf(simulator), { accepted: served, lostAnswers: 0 });
  });
}

t.test('GOAWAY with an error loses the answers that were late', async (t) => {
  const { simulator, ends } = await play(t, 'goAwayInternal', { latencyMs: 60_000 });
  const served = AT - TAIL_REQUESTS;
  t.same(ends, { unknown: served, unprocessed: PUSHES - served });
  t.match(await stateOf(simulator), { accepted: served, lostAnswers: served });
});

t.test('the socket closes without a word: the last ones were accepted', async (t) => {
  const { simulator, ends, closed, goAways } = await play(t, 'cut');
  // The client cannot know that those after the twentieth were not looked at.
  t.same(ends, { 200: AT - TAIL_REQUESTS, unknown: PUSHES - AT + TAIL_REQUESTS });
  t.same(goAways, []);
  await closed;
  const { accepted, lostAnswers, rejected } = await stateOf(simulator);
  t.same([accepted, lostAnswers, rejected], [AT, TAIL_REQUESTS, {}]);
});

t.test(
  'a cut in the middle of answers: none follows the PING that proves what was read',
  async (t) => {
    const { simulator, ends, closed } = await play(t, 'cut', { latencyMs: 50, roundTripMs: 300 });
    t.same(ends, { unknown: PUSHES });
    await closed;
    t.match(await stateOf(simulator), { accepted: AT, lostAnswers: AT, rejected: {} });
  },
);

t.test('a silent socket: the last ones were accepted, and nothing answers a PING', async (t) => {
  const simulator = await simulate(t, { ends: { silence: AT }, maxConcurrentStreams: 1_000 });
  const { push, closed } = await dial(t, simulator, {
    requestTimeoutMs: 500,
    pingAfterSilenceMs: 100,
    pingTimeoutMs: 200,
  });
  const ends = await Promise.all(Array.from({ length: PUSHES }, (_, index) => push(index)));
  t.same(countEnds(ends), { 200: AT - TAIL_REQUESTS, unknown: PUSHES - AT + TAIL_REQUESTS });
  t.equal(await closed, 'no answer to PING');
  t.match(await stateOf(simulator), { accepted: AT, lostAnswers: TAIL_REQUESTS });
});

t.test('an end before the tail has room for itself', async (t) => {
  const simulator = await simulate(t, { ends: { cut: 1 }, maxConcurrentStreams: 1_000 });
  const { push } = await dial(t, simulator);
  t.match(await push(1), { kind: 'failed', isUnprocessed: false });
  t.match(await stateOf(simulator), { accepted: 1, lostAnswers: 1 });
  await control(simulator, 'PUT /behaviour', { ends: { cut: 0, goAwayUnprocessed: 2 } });
  const second = await dial(t, simulator);
  t.same(countEnds(await Promise.all([second.push(2), second.push(3)])), { unprocessed: 2 });
  t.same(second.witness.goAways[0], ['NO_ERROR', 0, SHUTDOWN]);
});

t.test('a change of the behaviour leaves an end alone that is under way', async (t) => {
  const simulator = await simulate(t, { ends: { goAway: 2 }, silentShare: 1 });
  const { push, witness } = await dial(t, simulator, { streamsMax: 10 });
  void push(1);
  void push(2);
  while (witness.goAways.length === 0) await control(simulator, 'GET /state');
  await control(simulator, 'PUT /behaviour', { latencyMs: 1 });
  await control(simulator, 'PUT /behaviour', { ageMsMax: 1 });
  while (witness.goAways.length < 2) await control(simulator, 'GET /state');
  const [[, first] = ['', 0], [, second] = ['', 0]] = witness.goAways;
  t.ok(second <= first, 'the last stream never rises');
});

t.test('a run that is repeated ends its connections as the first did', async (t) => {
  const simulator = await simulate(t, { ends: { goAwayCalm: 1, goAwayInternal: 1 } });
  const codes: (string | undefined)[] = [];
  for (let connection = 0; connection < 12; connection += 1) {
    if (connection === 6) await control(simulator, 'POST /reset');
    const { push, witness } = await dial(t, simulator);
    t.match(await push(1), { kind: 'failed', isUnprocessed: true });
    codes.push(witness.goAways[0]?.[0]);
  }
  t.same(codes.slice(6), codes.slice(0, 6));
  t.equal(new Set(codes).size, 2);
});

t.test('each connection draws one of the ends, by the seed', (t) => {
  const ends = Object.fromEntries(
    Object.keys(KIND_BEHAVIOUR.ends).map((kind) => [kind, 5]),
  ) as unknown as Ends;
  const drawn = (seed: number) =>
    Array.from({ length: 200 }, (_, number) =>
      drawEnd(mergeBehaviour(KIND_BEHAVIOUR, { ends, seed }), number),
    );
  t.same(drawn(7), drawn(7));
  t.notSame(drawn(7), drawn(8));
  const kinds = new Set(drawn(7).map((end) => end?.kind));
  t.same([...kinds].sort(), Object.keys(ends).sort(), 'all of them come');
  t.equal(drawEnd(KIND_BEHAVIOUR, 1), null);
  t.end();
});
