/** docs/reference/metrics.md: every metric by its own help text. */

import { createMetrics } from '../../../src/telemetry/metrics.ts';
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

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Every metric of ours, as an engine with one of everything shows them. */
export async function shownMetrics(): Promise<readonly Metric[]> {
  const metrics = createMetrics();
  const scope = { appId: 1, platformId: 3 };
  metrics.httpRequests.with({ method: 'GET', route: '/', status: '200' });
  metrics.ignoredParameters.with({ field: 'tagId' });
  metrics.registrations.with({ operation: 'reg' });
  metrics.overloads.with({ part: 'http' });
  metrics.limitRefusals.with({ limit: 'tags' });
  metrics.sends.with({ platform: '3', outcome: 'failed' });
  metrics.heldDeletions.with({ platform: '3' });
  metrics.registrationFailures.with({ reason: 'limit' });
  metrics.retries.with({ platform: '3' });
  metrics.partFailures.with({ result: 'parked' });
  metrics.webhookDeliveries.with({ outcome: 'dead' });
  metrics.watchQueue('registrations', () => 1);
  metrics.watchRegistration(() => [
    { stage: 'look', seconds: NO_HISTOGRAM, operations: NO_HISTOGRAM },
  ]);
  metrics.watchLedger(() => ({
    recordSeconds: NO_HISTOGRAM,
    reportsWaiting: 0,
    lagSeconds: 0,
    failedAttempts: 0,
  }));
  const parts = { chunk: 0, retries: 0 };
  metrics.watchParts(() => ({ claimed: parts, underWay: parts }));
  metrics.watchWebhooks(() => ({ events: 0, pendingDeliveries: 0, oldestSeconds: 0 }));
  metrics.watchBacklog(() => ({ jobs: { RUNNING: 0 }, chunks: 0, retries: 0 }));
  metrics.watchCredentials(() => [
    { ...scope, isHealthy: true, expiresAtMs: 1, isFallback: false },
  ]);
  metrics.watchCircuits(() => [{ ...scope, openThreads: 1 }]);
  metrics.watchIndex(() => ({ isReachable: true, groupsWaiting: 0, groupsRepaired: 0 }));
  metrics.watchObjectIds(() => 0);
  metrics.watchConnections(() => ({ size: 0, turnedAway: 0, cutOff: 0, unsentBytes: 0 }));
  metrics.watchSending(() => ({
    providers: [
      {
        provider: 'any',
        connections: 0,
        streams: 0,
        connects: 0,
        connectFailures: 0,
        latencySeconds: NO_HISTOGRAM,
        outcomes: { delivered: 0 },
      },
    ],
    resolved: {
      redisSeconds: NO_HISTOGRAM,
      databaseSeconds: NO_HISTOGRAM,
      unavailable: 0,
      stale: 0,
    },
  }));
  metrics.watchThreads(() => [
    {
      thread: 'main',
      heapUsedBytes: 0,
      heapBytes: 0,
      externalBytes: 0,
      arrayBuffersBytes: 0,
      activeSeconds: 0,
      eventLoopDelaySeconds: NO_HISTOGRAM,
    },
  ]);
  return (await metrics.text())
    .split('\n\n')
    .filter((family) => family.startsWith('# HELP tagcast_'))
    .map(metricIn);
}

/** The first two lines say what the family is, the others are its series. */
function metricIn(family: string): Metric {
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
