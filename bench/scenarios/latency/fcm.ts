/**
 * Messages to FCM, 100 streams a connection: our sender, the one that Google publishes, and what
 * Node has.
 */

import type { FcmCredential } from '../../../src/providers/fcm/credential.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import { ClientProcess } from '../../clients/client-process.ts';
import type { FlowTimes } from '../../clients/flow.ts';
import type { SendingName } from '../../clients/sendings.ts';
import { startNghttpdFcmSink } from '../../sinks/nghttpd.ts';
import type { Sink } from '../../sinks/sink.ts';
import type { LatencyRow } from './compare.ts';
import { compare, ratio } from './compare.ts';

const CLIENTS: readonly SendingName[] = [
  'ours',
  'ours, 1 connection',
  'node:http2',
  'firebase-admin',
];
const ROUNDS = 5;
const TIMES: FlowTimes = { warmUpMs: 1_000, measuredMs: 2_000 };
/** Code becomes hot; nothing of it counts. */
const FIRST_TIMES: FlowTimes = { warmUpMs: 1_000, measuredMs: 500 };

export async function measureFcm(stage: Lifetime) {
  const sink = await startNghttpdFcmSink(stage);
  const rows = sink === null ? [] : await compareClients(stage, sink);
  const of = (name: SendingName): LatencyRow | undefined => rows.find((row) => row.name === name);
  const ours = of('ours');
  return {
    rows,
    ratios: {
      fcmOverFirebaseAdmin: ratio(ours, of('firebase-admin')),
      fcmOverNodeHttp2: ratio(ours, of('node:http2')),
    },
  };
}

async function compareClients(
  stage: Lifetime,
  sink: Sink<FcmCredential>,
): Promise<readonly LatencyRow[]> {
  const clients = CLIENTS.map((name) => new ClientProcess(stage, name));
  for (const client of clients) await client.measure(sink, FIRST_TIMES);
  const entrants = clients.map((client) => ({
    name: client.client,
    roundTripMs: null,
    measure: () => client.measure(sink, TIMES),
  }));
  return compare('fcm', entrants, ROUNDS);
}
