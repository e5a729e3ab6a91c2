/** Metrics of the worker threads' sends: what providers answer, and who resolves devices. */

import type { Registry } from 'prom-client';
import type { HistogramReading } from '../std/histogram.ts';
import type { Series } from './read-metrics.ts';
import { readCounter, readGauge, readHistogram } from './read-metrics.ts';

/** The sends to one provider: what is open now, and what was done since the start. */
export interface ProviderReading {
  readonly provider: string;
  readonly connections: number;
  readonly streams: number;
  readonly connects: number;
  readonly connectFailures: number;
  readonly latencySeconds: HistogramReading;
  readonly outcomes: Readonly<Record<string, number>>;
}

export interface SendingReading {
  readonly providers: readonly ProviderReading[];
  /** Device groups by who resolved them, and why the database did where Redis should. */
  readonly resolved: {
    readonly redisSeconds: HistogramReading;
    readonly databaseSeconds: HistogramReading;
    readonly unavailable: number;
    readonly stale: number;
  };
}

/** Calls `read` whenever the metrics are read. */
export function registerSendingMetrics(registry: Registry, read: () => SendingReading): void {
  const ofProviders =
    <Value>(valueIn: (reading: ProviderReading) => Value) =>
    (): readonly Series<Value>[] =>
      read().providers.map((reading) => [{ provider: reading.provider }, valueIn(reading)]);
  const byProvider = (name: string, help: string) => ({ name, help, labelNames: ['provider'] });
  readCounter(
    registry,
    {
      name: 'tagcast_provider_sends_total',
      help: 'Sends handed to the provider of a credential, retries included, by what came of each: `delivered`, `gone` (a dead token), `bad-token`, `bad-message`, `bad-credential`, `expired-authorization`, `throttled-device`, `throttled-target` (a limit of the whole credential), `unavailable` (the provider fails or cannot be reached), `refused` or `unknown` (no answer). Worker threads report this and the next seven every 5 s.',
      labelNames: ['provider', 'outcome'],
    },
    () =>
      read().providers.flatMap(({ provider, outcomes }) =>
        Object.entries(outcomes).map(([outcome, count]) => [{ provider, outcome }, count] as const),
      ),
  );
  readHistogram(
    registry,
    byProvider('tagcast_provider_latency_seconds', 'Time from a send to the whole answer.'),
    ofProviders(({ latencySeconds }) => latencySeconds),
  );
  readGauge(
    registry,
    byProvider('tagcast_provider_connections', 'Open connections to a provider.'),
    ofProviders(({ connections }) => connections),
  );
  readGauge(
    registry,
    byProvider('tagcast_provider_streams', 'Sends that wait for their answer.'),
    ofProviders(({ streams }) => streams),
  );
  readCounter(
    registry,
    byProvider('tagcast_provider_connects_total', 'Connections opened to a provider.'),
    ofProviders(({ connects }) => connects),
  );
  readCounter(
    registry,
    byProvider(
      'tagcast_provider_connect_failures_total',
      'Addresses of a provider that could not be connected to.',
    ),
    ofProviders(({ connectFailures }) => connectFailures),
  );
  readHistogram(
    registry,
    {
      name: 'tagcast_index_resolve_seconds',
      help: 'Time to find the devices of a group that have the tags, by `redis` or `database`; its count is the number of groups. Without Redis all are of `database`.',
      labelNames: ['source'],
    },
    () => {
      const { redisSeconds, databaseSeconds } = read().resolved;
      return [
        [{ source: 'redis' }, redisSeconds],
        [{ source: 'database' }, databaseSeconds],
      ];
    },
  );
  readCounter(
    registry,
    {
      name: 'tagcast_index_fallbacks_total',
      help: 'Groups that PostgreSQL resolved because Redis did not answer (`unavailable`) or could not prove that it is current (`stale`). Without Redis both stay 0.',
      labelNames: ['reason'],
    },
    () => {
      const { unavailable, stale } = read().resolved;
      return [
        [{ reason: 'unavailable' }, unavailable],
        [{ reason: 'stale' }, stale],
      ];
    },
  );
}
