/** `GET /push-admin-api/v3/<client-id>/stats/tag/<tag-id>`: exact counts of a tag. */

import { isId } from '../../domain/tag.ts';
import type { PatientReads } from '../../store/patient-reads.ts';
import type { Sql } from '../../store/sql.ts';
import type { TagDay } from '../../store/tag-days/tag-statistics.ts';
import { subscribersByApp, tagDays } from '../../store/tag-days/tag-statistics.ts';
import { readTagById } from '../../store/tags/read-tags.ts';
import { tagObject } from '../app-api/tag-object.ts';
import type { Route } from '../handler.ts';
import { BODY_BYTES_MAX } from '../handler.ts';
import { coversTag, outside } from '../key-limits.ts';
import { problem } from '../problem.ts';
import { tooMuchCounted } from '../too-much-counted.ts';

const DECIMAL = /^\d{1,10}$/;

export const statsTagRoute = ({
  sql,
  patientReads,
}: {
  readonly sql: Sql;
  readonly patientReads: PatientReads;
}): Route => ({
  operation: 'getTagStatistics',
  method: 'GET',
  path: '/push-admin-api/v3/:client/stats/tag/:tag',
  api: 'admin',
  needs: 'read',
  bodyBytesMax: BODY_BYTES_MAX,
  async handle(request, caller) {
    const tagId = readTagId(request.params['tag'] ?? '');
    const tag = tagId === null ? null : await readTagById(sql, caller.clientId, tagId);
    if (tag === null) return problem(request.requestId, 404, 'There is no such tag.');
    // The counts are of all apps.
    if (caller.key?.appIds || !(await coversTag(sql, caller, tag))) return outside(request);
    const read = await patientReads.run(caller.clientId, (patient) =>
      Promise.all([subscribersByApp(patient, tag.id), tagDays(patient, caller.clientId, tag.id)]),
    );
    if (read.kind === 'busy') return tooMuchCounted(request);
    const [byApp, days] = read.result;
    const body = {
      tag: {
        ...tagObject(tag),
        ...(tag.expiresAtMs === null ? {} : { expiration: tag.expiresAtMs }),
      },
      subscribers: sum(byApp.map(({ count }) => count)),
      subscribersByApp: byApp,
      notifications: sum(days.map((day) => day.notifications)),
      delivered: sum(days.map((day) => day.delivered)),
      failed: sum(days.map((day) => day.failed)),
      lastNotificationAt: days.findLast((day) => day.notifications > 0)?.lastNotificationAt ?? null,
      daily: days.map(dailyObject),
    };
    return {
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
  },
});

function readTagId(text: string): number | null {
  const id = DECIMAL.test(text) ? Number(text) : 0;
  return isId(id) ? id : null;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

const dailyObject = (day: TagDay): Omit<TagDay, 'lastNotificationAt'> => ({
  date: day.date,
  notifications: day.notifications,
  delivered: day.delivered,
  failed: day.failed,
  subscribed: day.subscribed,
  unsubscribed: day.unsubscribed,
});
