/** Metrics of provider credentials: each has a series only where its value is known. */

import type { Metric } from '../telemetry/metric.ts';
import type { CredentialReading } from './credential-watch.ts';

export function credentialMetrics(read: () => readonly CredentialReading[]): readonly Metric[] {
  const gauge = (
    name: string,
    help: string,
    valueIn: (reading: CredentialReading) => number | null,
  ): Metric => ({
    type: 'gauge',
    name,
    help,
    labels: ['app', 'platform'],
    read: () =>
      read().flatMap((reading) => {
        const value = valueIn(reading);
        const labels = { app: String(reading.appId), platform: String(reading.platformId) };
        return value === null ? [] : [[labels, value] as const];
      }),
  });
  return [
    gauge(
      'tagcast_credential_healthy',
      "Whether the provider took the credential when it was last asked: 1 or 0. Absent: it could not be asked, or it is a simulator's.",
      ({ isHealthy }) => (isHealthy === null ? null : Number(isHealthy)),
    ),
    gauge(
      'tagcast_credential_expires_seconds',
      'Seconds until the credential expires, where the operator has given the date.',
      ({ expiresAtMs }) => (expiresAtMs === null ? null : (expiresAtMs - Date.now()) / 1_000),
    ),
    gauge(
      'tagcast_credential_fallback',
      'Whether the credential before the last is in use, because the provider refuses the last: 1 or 0.',
      ({ isFallback }) => Number(isFallback),
    ),
  ];
}
