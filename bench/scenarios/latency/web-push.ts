/**
 * Web Push to one push service: our sender against `web-push`, and what our encryption costs beside
 * the cryptography in it.
 */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import { ClientProcess } from '../../clients/client-process.ts';
import type { FlowTimes } from '../../clients/flow.ts';
import type { SendingName } from '../../clients/sendings.ts';
import { startPushServiceSink } from '../../sinks/push-service.ts';
import type { LatencyRow } from './compare.ts';
import { compare, ratio } from './compare.ts';
import { measureEncryption } from './encryption.ts';

const CLIENTS: readonly SendingName[] = ['ours', 'web-push', 'web-push, keep-alive agent'];
const ROUNDS = 5;
const TIMES: FlowTimes = { warmUpMs: 1_000, measuredMs: 2_000 };
/** Code becomes hot; nothing of it counts. */
const FIRST_TIMES: FlowTimes = { warmUpMs: 1_000, measuredMs: 2_000 };

export async function measureWebPush(stage: Lifetime) {
  const sink = await startPushServiceSink(stage);
  const clients = CLIENTS.map((name) => new ClientProcess(stage, name));
  for (const client of clients) await client.measure(sink, FIRST_TIMES);
  const entrants = clients.map((client) => ({
    name: client.client,
    roundTripMs: null,
    measure: () => client.measure(sink, TIMES),
  }));
  const rows = await compare('web push', entrants, ROUNDS);
  const [ours, ...theirs] = rows;
  const encryption = measureEncryption();
  return {
    rows: [...rows, ...encryption.rows],
    ratios: { webPushOverWebPush: ratio(ours, fastest(theirs)) },
    figures: { encryptionOverBareCrypto: encryption.overBareCrypto },
  };
}

/** Whichever of its settings is the better one. */
const fastest = (rows: readonly LatencyRow[]): LatencyRow | undefined =>
  rows.toSorted((a, b) => (b.perSecond ?? 0) - (a.perSecond ?? 0))[0];
