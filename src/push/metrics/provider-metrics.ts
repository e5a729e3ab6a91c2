/** Metrics of the worker threads' sends to each provider, and of providers that fail. */

import type { Metric, Series } from '../../telemetry/metric.ts';
import type { CircuitReading } from '../dispatch/circuit-breakers.ts';
import type { ProviderReading } from '../protocol/worker-totals.ts';

export function providerMetrics(read: () => readonly ProviderReading[]): readonly Metric[] {
  const labels = ['provider'];
  const seriesOf = <Value>(
    valueIn: (reading: ProviderReading) => Value,
  ): readonly Series<Value>[] =>
    read().map((reading) => [{ provider: reading.provider }, valueIn(reading)]);
  return [
    {
      type: 'counter',
      name: 'tagcast_provider_sends_total',
      help: 'Sends handed to the provider of a credential, retries included, by what came of each: `delivered`, `gone` (a dead token), `bad-token`, `bad-message`, `bad-credential`, `expired-authorization`, `throttled-device`, `throttled-target` (a limit of the whole credential), `unavailable` (the provider fails or cannot be reached), `refused` or `unknown` (no answer). Worker threads report this and the next seven every 5 s.',
      labels: ['provider', 'outcome'],
      read: () =>
        read().flatMap(({ provider, outcomes }) =>
          Object.entries(outcomes).map(
            ([outcome, count]) => [{ provider, outcome }, count] as const,
          ),
        ),
    },
    {
      type: 'histogram',
      name: 'tagcast_provider_latency_seconds',
      help: 'Time from a send to the whole answer.',
      labels,
      read: () => seriesOf(({ latencySeconds }) => latencySeconds),
    },
    {
      type: 'gauge',
      name: 'tagcast_provider_connections',
      help: 'Open connections to a provider.',
      labels,
      read: () => seriesOf(({ connections }) => connections),
    },
    {
      type: 'gauge',
      name: 'tagcast_provider_streams',
      help: 'Sends that wait for their answer.',
      labels,
      read: () => seriesOf(({ streams }) => streams),
    },
    {
      type: 'counter',
      name: 'tagcast_provider_connects_total',
      help: 'Connections opened to a provider.',
      labels,
      read: () => seriesOf(({ connects }) => connects),
    },
    {
      type: 'counter',
      name: 'tagcast_provider_connect_failures_total',
      help: 'Addresses of a provider that could not be connected to.',
      labels,
      read: () => seriesOf(({ connectFailures }) => connectFailures),
    },
  ];
}

export const circuitMetric = (read: () => readonly CircuitReading[]): Metric => ({
  type: 'gauge',
  name: 'tagcast_provider_circuit_open',
  help: 'Worker threads that have stopped sending because the provider fails for everyone, and probe it. Present only while some have.',
  labels: ['app', 'platform'],
  read: () =>
    read().map(({ appId, platformId, openThreads }) => [
      { app: String(appId), platform: String(platformId) },
      openThreads,
    ]),
});
