/**
 * The cost of distance: our APNs sender to a simulator as far away as another town, and as another
 * continent.
 */

import type { Lifetime } from '../../../test/support/lifetime.ts';
import { ClientProcess } from '../../clients/client-process.ts';
import type { FlowTimes } from '../../clients/flow.ts';
import { startSimulatorSink } from '../../sinks/simulator.ts';
import type { LatencyRow } from './compare.ts';
import { compare, ratio } from './compare.ts';

const ROUNDS = 3;
/**
 * The window that APNs was seen to allow on a connection (internals/providers.md, "APNs:
 * connections").
 */
const WINDOW_OCTETS = 65_535;
/**
 * Keyed by round trip. Connections are opened by demand, a few round trips for each step: the
 * farther, the longer that takes.
 */
const TIMES: ReadonlyMap<number, FlowTimes> = new Map([
  [0, { warmUpMs: 2_000, measuredMs: 3_000 }],
  [50, { warmUpMs: 6_000, measuredMs: 3_000 }],
  [200, { warmUpMs: 12_000, measuredMs: 3_000 }],
]);
/** Sender and simulator become hot; nothing of it counts. */
const FIRST_TIMES: FlowTimes = { warmUpMs: 1_000, measuredMs: 1_000 };

export async function measureRoundTrips(stage: Lifetime) {
  const sink = await startSimulatorSink(stage);
  const client = new ClientProcess(stage, 'ours');
  await client.measure(sink, FIRST_TIMES);
  const entrants = [...TIMES].map(([roundTripMs, times]) => ({
    name: client.client,
    roundTripMs,
    measure: async () => {
      await sink.behave({ roundTripMs, windowOctets: WINDOW_OCTETS });
      return client.measure(sink, times);
    },
  }));
  const rows = await compare('apns', entrants, ROUNDS);
  const at = (roundTripMs: number): LatencyRow | undefined =>
    rows.find((row) => row.roundTripMs === roundTripMs);
  return { rows, ratios: { at50Ms: ratio(at(50), at(0)), at200Ms: ratio(at(200), at(0)) } };
}
