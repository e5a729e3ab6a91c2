/** docs/reference/metrics.md: every metric by its own help text. */

import { connectionMetrics, frontMetric, RequestCounts } from '../../../src/api/metrics.ts';
import { objectIdMetric } from '../../../src/app/upkeep/object-id-metric.ts';
import { DeviceCounts, registrationMetrics } from '../../../src/devices/metrics.ts';
import { credentialMetrics } from '../../../src/provider-credentials/metrics.ts';
import {
  backlogMetrics,
  ledgerMetrics,
  partMetrics,
} from '../../../src/push/metrics/job-metrics.ts';
import { circuitMetric, providerMetrics } from '../../../src/push/metrics/provider-metrics.ts';
import { SendCounts } from '../../../src/push/metrics/send-counts.ts';
import { redisMetrics, resolveMetrics } from '../../../src/tag-index/metrics.ts';
import { ResolveMeter } from '../../../src/tag-index/resolve-meter.ts';
import type { Metric } from '../../../src/telemetry/metric.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { threadMetrics } from '../../../src/telemetry/thread-metrics.ts';
import { TransportMeter } from '../../../src/transport/transport-meter.ts';
import { createDeliveryCounter, waitingMetrics } from '../../../src/webhooks/metrics.ts';
import { tableOf } from './table.ts';

const HEAD = `# Metrics

What \`/metrics\` shows; who may read it, and how to watch an engine, is in
[operating](../operate/monitor.md#health-and-metrics). \`process_*\` and \`nodejs_*\` are of the
main thread and the process: \`nodejs_eventloop_lag_*\` shows an overloaded main thread. Counters
begin at 0 with each start.

A \`provider\` is \`apns\`, \`fcm\` or \`webpush\`; nobody can be asked whether a VAPID key, the
credential of Web Push, is healthy. A \`thread\` is \`main\`, \`worker-1\` and so on; where the
database and the providers are embedded also \`database\`, whose external memory is mostly that of
PostgreSQL, and \`simulator\`.

No label has text that a caller chose, so requests cannot make series without end. \`app\` grows with
the apps that have credentials: each has two or three series for each platform.
`;

const NO_HISTOGRAM = { bounds: [], counts: [0], sum: 0 };

/** The metrics of an engine with one of everything, in its order. */
export function declaredMetrics(): readonly Metric[] {
  const scope = { appId: 1, platformId: 3 } as const;
  const requests = new RequestCounts();
  requests.requests.with({ method: 'GET', route: '/', status: '200' });
  requests.overloads.with({ part: 'http' });
  requests.limitRefusals.with({ limit: 'tags' });
  const devices = new DeviceCounts();
  devices.ignoredParameters.with({ field: 'tagId' });
  devices.committed.with({ operation: 'reg' });
  const sends = new SendCounts();
  sends.noteHeld(3, 1);
  const batches = { seconds: { reading: NO_HISTOGRAM }, operations: { reading: NO_HISTOGRAM } };
  const meter = new TransportMeter();
  const kinds = { chunk: 0, retries: 0 };
  const vitals = {
    heapUsedBytes: 0,
    heapBytes: 0,
    externalBytes: 0,
    arrayBuffersBytes: 0,
    activeSeconds: 0,
    eventLoopDelaySeconds: NO_HISTOGRAM,
  };
  return [
    ...redisMetrics(() => ({ isReachable: true, groupsWaiting: 0, groupsRepaired: 0 })),
    ...devices.metrics,
    ...registrationMetrics({ depth: 1, stages: { looked: batches, written: batches } }),
    ...credentialMetrics(() => [{ ...scope, isHealthy: true, expiresAtMs: 1, isFallback: false }]),
    ...sends.metrics,
    circuitMetric(() => [{ ...scope, openThreads: 1 }]),
    ...providerMetrics(() => [{ ...meter.reading, provider: 'any' }]),
    ...resolveMetrics(() => new ResolveMeter().reading),
    ...ledgerMetrics(() => ({
      recordSeconds: NO_HISTOGRAM,
      reportsWaiting: 0,
      lagSeconds: 0,
      failedAttempts: 0,
    })),
    ...partMetrics(() => ({ claimed: kinds, underWay: kinds })),
    ...backlogMetrics(() => ({ jobs: { RUNNING: 0 }, chunks: 0, retries: 0 })),
    objectIdMetric(() => 0),
    createDeliveryCounter(),
    ...waitingMetrics(() => ({ events: 0, pendingDeliveries: 0, oldestSeconds: 0 })),
    ...requests.metrics,
    ...connectionMetrics({ size: 0, turnedAway: 0, cutOff: 0, unsentBytes: 0 }),
    frontMetric({ kind: 'node', reason: '' }),
    ...threadMetrics(() => [{ thread: 'main', vitals }]),
  ];
}

interface ShownMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Every metric of ours, as an engine with one of everything shows them. */
export async function shownMetrics(): Promise<readonly ShownMetric[]> {
  const metrics = new Metrics();
  metrics.add(declaredMetrics());
  return (await metrics.text())
    .split('\n\n')
    .filter((family) => family.startsWith('# HELP tagcast_'))
    .map(metricIn);
}

/** The first two lines say what the family is, the others are its series. */
function metricIn(family: string): ShownMetric {
  const [, name = '', help = ''] = /^# HELP (\w+) (.*)$/m.exec(family) ?? [];
  const [, type = ''] = /^# TYPE \w+ (\w+)$/m.exec(family) ?? [];
  const [shown, series = ''] = /^tagcast_\w+(?:\{(.*)\})? /m.exec(family) ?? [];
  if (shown === undefined) throw new Error(`${name} has no series: give it one above`);
  const labels = [...series.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
  return { name, type, help, labels: labels.filter((label) => label !== 'le') };
}

export async function metricsReference(): Promise<string> {
  const rows = (await shownMetrics()).map(({ name, type, help, labels }) => [
    `\`${name}\``,
    type,
    labels.join(', '),
    help,
  ]);
  return `${HEAD}\n${tableOf(['metric', 'type', 'labels', 'what it is'], rows)}`;
}
