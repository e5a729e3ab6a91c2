/** The answer of both routes of statistics: exact counts, in one form. */

import type { PatientReads } from '../../database/patient-reads.ts';
import type { HttpRequest, HttpResponse } from '../../http/handler.ts';
import { json } from '../../http/json-body.ts';
import { tooMuchCounted } from '../../http/too-much-counted.ts';
import type { StatisticsDay, Subject } from '../read-statistics.ts';
import { statisticsDays, subscribersByApp } from '../read-statistics.ts';

export interface StatsParts {
  readonly patientReads: PatientReads;
}

/** `shown`: what they are of, under its name. */
export async function answerStats(
  patientReads: PatientReads,
  request: HttpRequest,
  subject: Subject,
  shown: object,
): Promise<HttpResponse> {
  const read = await patientReads.run(subject.clientId, (patient) =>
    Promise.all([subscribersByApp(patient, subject), statisticsDays(patient, subject)]),
  );
  if (read.kind === 'busy') return tooMuchCounted(request);
  const [byApp, days] = read.result;
  const times = days.flatMap(({ lastNotificationAt }) => lastNotificationAt ?? []);
  return json({
    ...shown,
    subscribers: sum(byApp.map(({ count }) => count)),
    subscribersByApp: byApp,
    // Of all days, also of those that are not kept one by one any more.
    notifications: sum(days.map(({ notifications }) => notifications)),
    delivered: sum(days.map(({ delivered }) => delivered)),
    failed: sum(days.map(({ failed }) => failed)),
    lastNotificationAt: times.at(-1) ?? null,
    daily: days.filter(({ date }) => date !== null).map(dailyObject),
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

const dailyObject = (day: StatisticsDay): Omit<StatisticsDay, 'lastNotificationAt'> => ({
  date: day.date,
  notifications: day.notifications,
  delivered: day.delivered,
  failed: day.failed,
  subscribed: day.subscribed,
  unsubscribed: day.unsubscribed,
});
