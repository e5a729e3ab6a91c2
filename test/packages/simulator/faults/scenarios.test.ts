/**
 * The named bad days: each can be asked for, all can be combined, and none of them makes the books
 * lie.
 */

import t from 'tap';
import { KIND_BEHAVIOUR } from '../../../../packages/simulator/src/faults/behaviour.ts';
import {
  isScenarioName,
  SCENARIO_NAMES,
} from '../../../../packages/simulator/src/faults/scenarios.ts';
import { changeBehaviour } from '../../../../packages/simulator/src/options.ts';
import type { Simulator } from '../../../../packages/simulator/src/simulator.ts';
import type { Teardown } from '../peer.ts';
import { control, simulate } from '../peer.ts';
import type { Client, End } from '../witness.ts';
import { dial } from '../witness.ts';

t.test('each changes something, and they are merged in their order', (t) => {
  for (const name of SCENARIO_NAMES) {
    t.notSame(changeBehaviour(KIND_BEHAVIOUR, { scenarios: [name] }), KIND_BEHAVIOUR, name);
  }
  const merged = changeBehaviour(KIND_BEHAVIOUR, {
    scenarios: ['go-away', 'cut', 'throttled', 'stream-limit'],
    ends: { cut: 7 },
    shares: { throttled: 0.5 },
  });
  t.match(merged, {
    ends: { goAway: 1_000, cut: 7, silence: 0 },
    shares: { throttled: 0.5, serverError: 0.01, badToken: 0.001, gone: 0 },
    streamsFall: true,
    latencyMs: 0,
  });
  t.ok(isScenarioName('far'));
  t.notOk(isScenarioName('toString'));
  t.end();
});

t.test('they can be asked for while it runs; a wrong name is told the known ones', async (t) => {
  const simulator = await simulate(t, { scenarios: ['far'] });
  const answer = await control(simulator, 'PUT /behaviour', {
    scenarios: ['small-window', 'ping-rules'],
    seed: 9,
  });
  t.match(answer.json, { roundTripMs: 50, windowOctets: 65_535, clientPingsMax: 3, seed: 9 });
  t.notOk('scenarios' in answer.json, 'what they say is shown, not their names');
  const wrong = await control(simulator, 'PUT /behaviour', { scenarios: ['far', 'rainy'] });
  t.match([wrong.status, wrong.json['errors']], [400, [{ path: 'scenarios.1' }]]);
  for (const name of SCENARIO_NAMES) t.match(wrong.json['detail'], name);
});

const PUSHES = 3_000;
const CONNECTIONS = 4;
const EACH_OFTEN = 150;

t.test(
  'all at once: who tries again what may be tried reaches each device, and twice only unknowing',
  async (t) => {
    const simulator = await simulate(t, {
      // Under a wrong clock nothing is accepted.
      scenarios: SCENARIO_NAMES.filter((name) => !name.startsWith('clock-')),
      // Often enough for a small test, and below the client's time-out.
      ends: Object.fromEntries(Object.keys(KIND_BEHAVIOUR.ends).map((kind) => [kind, EACH_OFTEN])),
      latencySpread: { p50Ms: 20, p99Ms: 100, maxMs: 300 },
      outage: { afterMs: 500, closedMs: 300, unavailableMs: 300 },
      roundTripMs: 10,
      silentShare: 0.005,
      lostAnswerShare: 0.005,
      shares: { badToken: 0.005 },
      seed: 4,
    });
    const { delivered, refused, unknown } = await sendAll(t, simulator);
    t.equal(delivered + refused, PUSHES, 'one outcome each');
    const { json } = await control<{ apns: State }>(simulator, 'GET /state');
    const { accepted, lostAnswers, duplicates, unexplainedDuplicates, connectionsOpened } =
      json.apns;
    t.comment(JSON.stringify({ delivered, refused, unknown, ...json.apns }));
    t.equal(unexplainedDuplicates, 0);
    t.ok(lostAnswers > 0 && duplicates > 0 && duplicates <= lostAnswers);
    t.ok(unknown >= lostAnswers, 'the client knew of each that it cannot know');
    t.equal(accepted, delivered + lostAnswers, 'the sums close');
    t.ok(connectionsOpened > PUSHES / EACH_OFTEN, `${connectionsOpened} connections`);
  },
);

interface State {
  readonly accepted: number;
  readonly lostAnswers: number;
  readonly duplicates: number;
  readonly unexplainedDuplicates: number;
  readonly connectionsOpened: number;
}

/**
 * Pushes to every device until each has its answer, as a sender does that prefers twice to never.
 */
async function sendAll(t: Teardown, simulator: Simulator) {
  const open = Array.from({ length: PUSHES }, (_, index) => index);
  const counts = { delivered: 0, refused: 0, unknown: 0 };
  let left = PUSHES;
  const settle = (number: number, end: End): void => {
    if (end.kind === 'failed') {
      if (!end.isUnprocessed) counts.unknown += 1;
      open.push(number);
    } else if (end.status === 200 || end.status === 400) {
      counts[end.status === 200 ? 'delivered' : 'refused'] += 1;
      left -= 1;
    } else {
      open.push(number);
    }
  };
  const work = async (): Promise<void> => {
    while (left > 0) {
      const client = await dialOrNull(t, simulator);
      if (client !== null) await sendOn(client, open, settle, () => left > 0);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return counts;
}

/** Keeps fifty under way until the connection is gone or all is done. */
async function sendOn(
  { push, witness }: Client,
  open: number[],
  settle: (number: number, end: End) => void,
  isNeeded: () => boolean,
): Promise<void> {
  const lane = async (): Promise<void> => {
    while (isNeeded() && !witness.isClosed && witness.goAways.length === 0) {
      const number = open.pop();
      if (number === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
      else settle(number, await push(number));
    }
  };
  await Promise.all(Array.from({ length: 50 }, lane));
  witness.drain();
}

async function dialOrNull(t: Teardown, simulator: Simulator): Promise<Client | null> {
  try {
    return await dial(t, simulator, {
      requestTimeoutMs: 1_000,
      pingAfterSilenceMs: 1_000,
      pingTimeoutMs: 1_000,
    });
  } catch {
    return null;
  }
}
