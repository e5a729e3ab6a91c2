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
      help: 'Sends handed to a provider, by what came of each.',
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
      'Attempts to connect to an address of a provider that failed.',
    ),
    ofProviders(({ connectFailures }) => connectFailures),
  );
  readHistogram(
    registry,
    {
      name: 'tagcast_index_resolve_seconds',
      help: 'Time to find the devices of a group that have the tags.',
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
      help: 'Groups that the database resolved because Redis could not.',
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
