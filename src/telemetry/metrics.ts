/**
 * Every metric of the engine by name, in one registry. Events that occur a thousand times a second
 * are counted in a plain field.
 */

import { collectDefaultMetrics, Registry } from 'prom-client';
import type { IndexReading } from './index-metrics.ts';
import { registerIndexMetrics } from './index-metrics.ts';
import type { BacklogReading, LedgerReading, PartsReading } from './ledger-metrics.ts';
import {
  registerBacklogMetrics,
  registerLedgerMetrics,
  registerPartsMetrics,
} from './ledger-metrics.ts';
import { readCounter, readGauge } from './read-metrics.ts';
import type { RegistrationReading } from './registration-metrics.ts';
import { registerRegistrationMetrics } from './registration-metrics.ts';
import type { SendingReading } from './sending-metrics.ts';
import { registerSendingMetrics } from './sending-metrics.ts';
import type { ThreadReading } from './thread-metrics.ts';
import { registerThreadMetrics } from './thread-metrics.ts';
import type { WaitingWebhooksReading } from './webhook-metrics.ts';
import { registerWebhookMetrics } from './webhook-metrics.ts';

/** One series, looked up once and then raised without hashing labels. */
interface Count {
  value: number;
}

/** A family of counters whose series are plain fields until the metrics are read. */
interface CountFamily<Label extends string> {
  /** The same labels give the same series. */
  with(labels: Readonly<Record<Label, string>>): Count;
}

export interface Metrics {
  readonly httpRequests: CountFamily<'method' | 'route' | 'status'>;
  readonly ignoredParameters: CountFamily<'field'>;
  readonly registrations: CountFamily<'operation'>;
  readonly overloads: CountFamily<'part'>;
  readonly limitRefusals: CountFamily<'limit'>;
  readonly sends: CountFamily<'platform' | 'outcome'>;
  readonly heldDeletions: CountFamily<'platform'>;
  readonly registrationFailures: CountFamily<'reason'>;
  readonly retries: CountFamily<'platform'>;
  readonly partFailures: CountFamily<'result'>;
  readonly webhookDeliveries: CountFamily<'outcome'>;
  /** Calls `read` for the length of a queue whenever the metrics are read. */
  watchQueue(queue: string, read: () => number): void;
  /** Calls `read` for the state of provider credentials whenever the metrics are read. */
  watchCredentials(read: () => readonly CredentialReading[]): void;
  /** Likewise for the providers that fail for everyone. */
  watchCircuits(read: () => readonly CircuitReading[]): void;
  /** Likewise, once, for the index in Redis: without one there are no metrics of it. */
  watchIndex(read: () => IndexReading): void;
  /** The share of the ids of tags, groups and apps that was given out; null: not known yet. */
  watchObjectIds(read: () => number | null): void;
  /** Likewise for the connections of callers. */
  watchConnections(read: () => ConnectionReading): void;
  /** Likewise, once, for the batches of registrations. */
  watchRegistration(read: () => readonly RegistrationReading[]): void;
  /** Likewise, once, for the ledger. */
  watchLedger(read: () => LedgerReading): void;
  /** Likewise, once, for the parts that were claimed. */
  watchParts(read: () => PartsReading): void;
  /** Likewise, once, for what waits in the database; null: not known. */
  watchBacklog(read: () => BacklogReading | null): void;
  /** Likewise, once, for what webhooks are still to be told; null: not known. */
  watchWebhooks(read: () => WaitingWebhooksReading | null): void;
  /** Likewise, once, for what the worker threads do. */
  watchSending(read: () => SendingReading): void;
  /** Likewise, once, for the threads of this process. */
  watchThreads(read: () => readonly ThreadReading[]): void;
  /** The Prometheus text form. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** The provider credential of one scope. */
export interface CredentialReading {
  readonly appId: number;
  readonly platformId: number;
  /** Null: not known. */
  readonly isHealthy: boolean | null;
  readonly expiresAtMs: number | null;
  /** The provider has refused the new credential: the previous one is in use. */
  readonly isFallback: boolean;
}

/** One scope whose provider fails for everyone. */
export interface CircuitReading {
  readonly appId: number;
  readonly platformId: number;
  /** Worker threads whose circuit breaker is open. */
  readonly openThreads: number;
}

/** Connections of callers. */
interface ConnectionReading {
  /** Open ones. */
  readonly size: number;
  /** Closed because there was no room for them, since the start. */
  readonly turnedAway: number;
  /** Closed because too many bytes of answers were unread, since the start. */
  readonly cutOff: number;
  /** Bytes of unsent answers. */
  readonly unsentBytes: number;
}

/**
 * Makes the process' metrics. `onUnread` is called for each family that could not be read: it is
 * left out of the text, and the others are there.
 */
export function createMetrics(
  onUnread: (error: unknown, name: string) => void = () => undefined,
): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const queues = new Map<string, () => number>();
  readGauge(
    registry,
    {
      name: 'tagcast_queue_depth',
      help: 'Items waiting in a queue: `registrations` are those taken and not yet answered.',
      labelNames: ['queue'],
    },
    () => [...queues].map(([queue, read]) => [{ queue }, read()]),
  );
  const credentials = watchCredentials(registry);
  const circuits = watchCircuits(registry);
  const family = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
  ): CountFamily<Label> => createFamily(registry, name, help, labelNames);
  return {
    httpRequests: family(
      'tagcast_http_requests_total',
      'Requests answered. The route of a path that none matches is `unmatched`.',
      ['method', 'route', 'status'],
    ),
    ignoredParameters: family(
      'tagcast_ignored_parameters_total',
      'Parameters of the App API that were ignored behind an `OK`. Set an alarm on it after a release of an app.',
      ['field'],
    ),
    registrations: family(
      'tagcast_registrations_total',
      'Operations committed: `reg`, `ureg`, `set`, `replace` or `import`.',
      ['operation'],
    ),
    overloads: family(
      'tagcast_overloads_total',
      'Requests refused because too much was under way: requests of the server (`http`), their bodies (`bodies`), or registrations waiting for their commit (`registrations`).',
      ['part'],
    ),
    limitRefusals: family(
      'tagcast_limit_refusals_total',
      'Requests refused with 429 or 403 because their client is at a limit, or their address at `REGISTRATIONS_PER_SECOND_MAX`.',
      ['limit'],
    ),
    sends: family(
      'tagcast_sends_total',
      'Sends that ended for good, recorded by this process: `delivered`, `failed`, `skipped`, `expired` or `cancelled`.',
      ['platform', 'outcome'],
    ),
    heldDeletions: family(
      'tagcast_held_deletions_total',
      'Devices reported dead that are not erased before an operator decides.',
      ['platform'],
    ),
    registrationFailures: family(
      'tagcast_registration_failures_total',
      'Operations of `reg`, `ureg` and `set` that were not committed: their app has as many devices as it may (`limit`), the database refuses this very row (`refused`), or it cannot be reached (`unavailable`).',
      ['reason'],
    ),
    retries: family(
      'tagcast_retries_total',
      'Sends that were put off to a later time: to be tried again, or not begun when their part was given back.',
      ['platform'],
    ),
    partFailures: family(
      'tagcast_part_failures_total',
      'Parts of push jobs that failed by a fault of ours or of the database: `given-back`, so claimed again, or `parked`.',
      ['result'],
    ),
    webhookDeliveries: family(
      'tagcast_webhook_deliveries_total',
      'Requests of this node to webhooks: `delivered`, `failed` (tried again) or `dead` (given up).',
      ['outcome'],
    ),
    watchQueue: (queue, read) => queues.set(queue, read),
    watchCredentials: (read) => {
      credentials.read = read;
    },
    watchCircuits: (read) => {
      circuits.read = read;
    },
    watchObjectIds: (read) => registerObjectIds(registry, read),
    watchConnections: (read) => registerConnections(registry, read),
    watchIndex: (read) => registerIndexMetrics(registry, read),
    watchRegistration: (read) => registerRegistrationMetrics(registry, read),
    watchLedger: (read) => registerLedgerMetrics(registry, read),
    watchParts: (read) => registerPartsMetrics(registry, read),
    watchBacklog: (read) => registerBacklogMetrics(registry, read),
    watchWebhooks: (read) => registerWebhookMetrics(registry, read),
    watchSending: (read) => registerSendingMetrics(registry, read),
    watchThreads: (read) => registerThreadMetrics(registry, read),
    text: () => textOf(registry, onUnread),
    contentType: registry.contentType,
  };
}

async function textOf(
  registry: Registry,
  onUnread: (error: unknown, name: string) => void,
): Promise<string> {
  const families = registry.getMetricsAsArray().map(async (family) => {
    try {
      return `${await registry.getSingleMetricAsString(family.name)}\n`;
    } catch (error) {
      onUnread(error, family.name);
      return '';
    }
  });
  return (await Promise.all(families)).filter((text) => text !== '').join('\n');
}

function registerObjectIds(registry: Registry, read: () => number | null): void {
  readGauge(
    registry,
    {
      name: 'tagcast_object_ids_used_ratio',
      help: 'Share of all ids of tags, groups and apps that is given out, as of the last hour. At 1 none can be made any more; warn at 0.5: `object_ids_drawn` in `clients` says who makes so many.',
    },
    () => {
      const share = read();
      return share === null ? [] : [[{}, share]];
    },
  );
}

function registerConnections(registry: Registry, read: () => ConnectionReading): void {
  readGauge(
    registry,
    { name: 'tagcast_http_connections', help: 'Open connections of callers.' },
    () => [[{}, read().size]],
  );
  readCounter(
    registry,
    {
      name: 'tagcast_http_connections_turned_away_total',
      help: 'Connections of callers that were closed because there was no room for them (file descriptors).',
    },
    () => [[{}, read().turnedAway]],
  );
  readCounter(
    registry,
    {
      name: 'tagcast_http_connections_cut_off_total',
      help: 'Connections of callers that were closed because too many bytes of answers were unread.',
    },
    () => [[{}, read().cutOff]],
  );
  readGauge(
    registry,
    {
      name: 'tagcast_http_unsent_bytes',
      help: 'Bytes of answers that callers have not read yet.',
    },
    () => [[{}, read().unsentBytes]],
  );
}

/**
 * Gauges of values that another part of the engine knows: each is present only where its value is
 * known.
 */
function watchCredentials(registry: Registry): { read: () => readonly CredentialReading[] } {
  const source: { read: () => readonly CredentialReading[] } = { read: () => [] };
  const gauge = (
    name: string,
    help: string,
    valueIn: (reading: CredentialReading) => number | null,
  ): void => scopeGauge(registry, name, help, () => source.read(), valueIn);
  gauge(
    'tagcast_credential_healthy',
    "Whether the provider took the credential when it was last asked: 1 or 0. Absent: it could not be asked, or it is a simulator's.",
    ({ isHealthy }) => (isHealthy === null ? null : Number(isHealthy)),
  );
  gauge(
    'tagcast_credential_expires_seconds',
    'Seconds until the credential expires, where the operator has given the date.',
    ({ expiresAtMs }) => (expiresAtMs === null ? null : (expiresAtMs - Date.now()) / 1_000),
  );
  gauge(
    'tagcast_credential_fallback',
    'Whether the credential before the last is in use, because the provider refuses the last: 1 or 0.',
    ({ isFallback }) => Number(isFallback),
  );
  return source;
}

function watchCircuits(registry: Registry): { read: () => readonly CircuitReading[] } {
  const source: { read: () => readonly CircuitReading[] } = { read: () => [] };
  scopeGauge(
    registry,
    'tagcast_provider_circuit_open',
    'Worker threads that have stopped sending because the provider fails for everyone, and probe it. Present only while some have.',
    () => source.read(),
    ({ openThreads }) => openThreads,
  );
  return source;
}

/** A gauge by scope, for the scopes for which `valueIn` gives a value. */
function scopeGauge<Reading extends { readonly appId: number; readonly platformId: number }>(
  registry: Registry,
  name: string,
  help: string,
  read: () => readonly Reading[],
  valueIn: (reading: Reading) => number | null,
): void {
  readGauge(registry, { name, help, labelNames: ['app', 'platform'] }, () =>
    read().flatMap((reading) => {
      const value = valueIn(reading);
      const labels = { app: String(reading.appId), platform: String(reading.platformId) };
      return value === null ? [] : [[labels, value] as const];
    }),
  );
}

function createFamily<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly Label[],
): CountFamily<Label> {
  const series: { readonly labels: Readonly<Record<Label, string>>; readonly count: Count }[] = [];
  const root: SeriesNode = { next: new Map(), count: null };
  readCounter(registry, { name, help, labelNames }, () =>
    series.map(({ labels, count }) => [labels, count.value]),
  );
  return {
    with(labels) {
      let node = root;
      for (const name of labelNames) node = nextOf(node, labels[name]);
      if (node.count === null) {
        node.count = { value: 0 };
        series.push({ labels, count: node.count });
      }
      return node.count;
    },
  };
}

/**
 * A series is found by the values of its labels, one after the other: a joined key would have to be
 * made and hashed each time.
 */
interface SeriesNode {
  readonly next: Map<string, SeriesNode>;
  count: Count | null;
}

function nextOf({ next }: SeriesNode, value: string): SeriesNode {
  let node = next.get(value);
  if (node === undefined) {
    node = { next: new Map(), count: null };
    next.set(value, node);
  }
  return node;
}
