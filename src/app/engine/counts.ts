/** What the engine counts as its parts report it. */

import type { RegistrationResult } from '../../devices/operation.ts';
import { PLATFORM_IDS } from '../../domain/device.ts';
import type { Progress } from '../../domain/progress.ts';
import { FINAL_KINDS } from '../../domain/progress.ts';
import type { ThreadVitals } from '../../std/thread-vitals.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { ThreadReading } from '../../telemetry/thread-metrics.ts';
import { DELIVERY_OUTCOMES } from '../../webhooks/deliverer.ts';

/** None for a thread that does not exist or has not reported yet. */
export const readingsOf = (
  thread: string,
  vitals: ThreadVitals | null,
): readonly ThreadReading[] => (vitals === null ? [] : [{ thread, ...vitals }]);

/**
 * Series that are to be there before the first event: Prometheus sees no increase when a series
 * begins with it.
 */
export function beginCounts(metrics: Metrics): void {
  for (const reason of ['limit', 'refused', 'unavailable']) {
    metrics.registrationFailures.with({ reason });
  }
  for (const outcome of DELIVERY_OUTCOMES) metrics.webhookDeliveries.with({ outcome });
  for (const result of ['given-back', 'parked']) metrics.partFailures.with({ result });
  for (const platform of PLATFORM_IDS.map(String)) {
    metrics.retries.with({ platform });
    for (const outcome of FINAL_KINDS) metrics.sends.with({ platform, outcome });
  }
}

/** Counts durable operations, and those that were refused because too many waited. */
export function countRegistration(
  metrics: Metrics,
  operation: string,
  result: RegistrationResult,
): void {
  switch (result) {
    case 'committed':
    case 'tags-limited':
      metrics.registrations.with({ operation }).value += 1;
      return;
    case 'overloaded':
      metrics.overloads.with({ part: 'registrations' }).value += 1;
      return;
    case 'limit':
    case 'refused':
    case 'unavailable':
      metrics.registrationFailures.with({ reason: result }).value += 1;
  }
}

/** Counts sends by their final outcome, and those that are put off. */
export function countSends(metrics: Metrics, report: Progress): void {
  const platform = String(report.platformId);
  if (report.failure !== undefined) {
    const result = report.isParked === true ? 'parked' : 'given-back';
    metrics.partFailures.with({ result }).value += 1;
  }
  const add = (outcome: string, count: number): void => {
    if (count > 0) metrics.sends.with({ platform, outcome }).value += count;
  };
  switch (report.kind) {
    case 'chunk': {
      const { total: _, ...ended } = report.counts;
      for (const [outcome, count] of Object.entries(ended)) add(outcome, count);
      metrics.retries.with({ platform }).value += report.retries.length;
      return;
    }
    case 'retries':
      for (const { ending } of report.settlements) {
        if (ending !== null) add(ending, 1);
        else metrics.retries.with({ platform }).value += 1;
      }
  }
}
