/** The answer of both routes of statistics: exact counts, in one form. */

import { z } from 'zod';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { Sql } from '../../database/sql.ts';
import { count, epochMs, scopeCount } from '../../http/openapi/parts.ts';
import type { Result } from '../../http/result.ts';
import { done, refuse } from '../../http/result.ts';
import type { Subject } from '../read-statistics.ts';
import { statisticsDays, subscribersByApp } from '../read-statistics.ts';

export interface StatsParts {
  readonly sql: Sql;
  readonly patientReads: PatientReads;
}

export const ABOUT =
  'Exact at the moment of the answer; days are UTC. A notification, with all that becomes of it, counts on the day on which it was accepted, before it is sent too. It goes on counting when it is deleted. `daily` has the days of the last two years on which anything happened; `notifications`, `delivered` and `failed` are of all time. Days before this version know no `subscribed` and `unsubscribed` of an app, and no notifications that were deleted before.';

const sends = { notifications: count, delivered: count, failed: count };
const statistics = z.object({
  subscribers: count,
  subscribersByApp: z.array(scopeCount),
  ...sends,
  lastNotificationAt: epochMs.nullable(),
  daily: z.array(
    z.object({ date: z.iso.date(), ...sends, subscribed: count, unsubscribed: count }),
  ),
});

const SENDS = { notifications: 1, delivered: 1, failed: 0 };
export const STATISTICS = {
  subscribers: 1,
  subscribersByApp: [{ appId: 1, platformId: 3, count: 1 }],
  ...SENDS,
  lastNotificationAt: 1_795_392_000_000,
  daily: [{ date: '2026-11-23', ...SENDS, subscribed: 1, unsubscribed: 0 }],
};

/** The schema of the answer. `subject`: what the statistics are of, under its name. */
export const withStatistics = <Of extends z.ZodRawShape>(subject: Of) =>
  z.object({ ...subject, ...statistics.shape });

export async function statisticsOf(
  patientReads: PatientReads,
  subject: Subject,
): Promise<Result<z.output<typeof statistics>>> {
  const read = await patientReads.run(subject.clientId, (patient) =>
    Promise.all([subscribersByApp(patient, subject), statisticsDays(patient, subject)]),
  );
  if (read.kind === 'busy') return refuse.tooMuchCounted;
  const [byApp, days] = read.result;
  const times = days.flatMap(({ lastNotificationAt }) => lastNotificationAt ?? []);
  return done({
    subscribers: sum(byApp.map(({ count }) => count)),
    subscribersByApp: [...byApp],
    // The sum of all days, also of those that are not kept one by one any more.
    notifications: sum(days.map(({ notifications }) => notifications)),
    delivered: sum(days.map(({ delivered }) => delivered)),
    failed: sum(days.map(({ failed }) => failed)),
    lastNotificationAt: times.at(-1) ?? null,
    daily: days.flatMap(({ date, ...day }) => (date === null ? [] : [{ date, ...day }])),
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
