/** What the OpenAPI document says of statistics. */

import { z } from 'zod';
import { appTag } from '../../catalogue/routes/tag-schemas.ts';
import type { Operations } from '../../http/openapi/operation.ts';
import { count, epochMs, id, jsonAnswer, pathId, scopeCount } from '../../http/openapi/parts.ts';

const sends = { notifications: count, delivered: count, failed: count };
const statistics = {
  subscribers: count,
  subscribersByApp: z.array(scopeCount),
  ...sends,
  lastNotificationAt: epochMs.nullable(),
  daily: z.array(
    z.object({ date: z.iso.date(), ...sends, subscribed: count, unsubscribed: count }),
  ),
};

const SENDS = { notifications: 1, delivered: 1, failed: 0 };
const STATISTICS = {
  subscribers: 1,
  subscribersByApp: [{ appId: 1, platformId: 3, count: 1 }],
  ...SENDS,
  lastNotificationAt: 1_795_392_000_000,
  daily: [{ date: '2026-11-23', ...SENDS, subscribed: 1, unsubscribed: 0 }],
};

export const statisticsOperations = {
  getTagStatistics: {
    summary: 'Exact counts of a tag',
    path: { tag: pathId('tag') },
    answers: {
      200: jsonAnswer(
        'Its subscribers and its pushes, in all and by day.',
        z.object({ tag: appTag.extend({ expiration: epochMs.optional() }), ...statistics }),
        { tag: { id: 2, name: 'Breaking news', sourceId: 'breaking-news' }, ...STATISTICS },
      ),
    },
    problems: [404],
  },
  getAppStatistics: {
    summary: 'Exact counts of an app',
    path: { app: pathId('app', 1) },
    answers: {
      200: jsonAnswer(
        'Its subscribers and its pushes, in all and by day.',
        z.object({ app: z.object({ id, name: z.string() }), ...statistics }),
        { app: { id: 1, name: 'Demo' }, ...STATISTICS },
      ),
    },
    problems: [404],
  },
} as const satisfies Operations;
