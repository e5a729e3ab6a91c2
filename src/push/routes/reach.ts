/** Shows a job's reach in answers about it: whom a later message about it would go to. */

import { z } from 'zod';
import { count, epochMs, orAbsent } from '../../http/openapi/parts.ts';
import type { ScopeStatus } from '../sql/notifications/read-status.ts';

const DAY_MS = 86_400_000;

export const reachSchema = orAbsent(
  z
    .object({
      devices: count,
      until: orAbsent(
        epochMs.meta({
          description:
            'It is kept until then: `REACH_RETENTION_DAYS` (7) after the end. Absent while the job runs.',
        }),
      ),
      incomplete: z.literal(true).optional().meta({
        description:
          'More devices may have the message: it is not known to whom a part of it was sent, by a node of an earlier version, or before the part was parked. Absent otherwise.',
      }),
    })
    .meta({
      description:
        'The devices that may have seen the message: their provider accepted it, or nobody knows whether it did. Each counts once. Absent where none is kept, and before the first send is recorded.',
    }),
);

/** Null: none is kept. */
export function reachOf(
  rows: readonly Pick<ScopeStatus, 'reached' | 'isReachWhole'>[],
  finishedAtMs: number | null,
  retentionDays: number,
): z.infer<typeof reachSchema> | null {
  const kept = rows.filter(({ reached }) => reached !== null);
  if (kept.length === 0) return null;
  const isWhole = rows.every(({ isReachWhole }) => isReachWhole);
  return {
    devices: kept.reduce((sum, { reached }) => sum + (reached ?? 0), 0),
    until: finishedAtMs === null ? null : finishedAtMs + retentionDays * DAY_MS,
    ...(isWhole ? {} : { incomplete: true }),
  };
}
