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
    { name: 'tagcast_queue_depth', help: 'Items waiting in a queue.', labelNames: ['queue'] },
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
    httpRequests: family('tagcast_http_requests_total', 'Requests answered.', [
      'method',
      'route',
      'status',
    ]),
    ignoredParameters: family(
      'tagcast_ignored_parameters_total',
      'Parameters of the App API that were ignored.',
      ['field'],
    ),
    registrations: family('tagcast_registrations_total', 'Operations committed.', ['operation']),
    overloads: family('tagcast_overloads_total', 'Requests refused because too much was waiting.', [
      'part',
    ]),
    limitRefusals: family(
      'tagcast_limit_refusals_total',
      'Requests refused because their client, or their address, is at a limit.',
      ['limit'],
    ),
    sends: family('tagcast_sends_total', 'Sends by how they ended.', ['platform', 'outcome']),
    heldDeletions: family(
      'tagcast_held_deletions_total',
      'Devices reported dead that are not erased before an operator decides.',
      ['platform'],
    ),
    registrationFailures: family(
      'tagcast_registration_failures_total',
      'Operations that were not committed.',
      ['reason'],
    ),
    retries: family('tagcast_retries_total', 'Sends that were put off to a later time.', [
      'platform',
    ]),
    partFailures: family('tagcast_part_failures_total', 'Parts that failed by a fault of ours.', [
      'result',
    ]),
    webhookDeliveries: family(
      'tagcast_webhook_deliveries_total',
      'Requests to webhooks by how they ended.',
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
      help: 'Share of the ids of tags, groups and apps that is used: at 1 no more can be created.',
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
      help: 'Connections of callers that were closed because there was no room for them.',
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
    'Whether the provider accepted the credential when it was last asked.',
    ({ isHealthy }) => (isHealthy === null ? null : Number(isHealthy)),
  );
  gauge(
    'tagcast_credential_expires_seconds',
    'Seconds until the credential expires, where the operator has given the date.',
    ({ expiresAtMs }) => (expiresAtMs === null ? null : (expiresAtMs - Date.now()) / 1_000),
  );
  gauge(
    'tagcast_credential_fallback',
    'Whether the previous credential is in use, because the provider refuses the new one.',
    ({ isFallback }) => Number(isFallback),
  );
  return source;
}

function watchCircuits(registry: Registry): { read: () => readonly CircuitReading[] } {
  const source: { read: () => readonly CircuitReading[] } = { read: () => [] };
  scopeGauge(
    registry,
    'tagcast_provider_circuit_open',
    'Worker threads that have stopped sending, because the provider fails for everyone; they probe it.',
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
