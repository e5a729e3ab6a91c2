/** The operator's routes of held deletions: devices reported dead in numbers to be checked. */

import { z } from 'zod';
import type { SqlPool } from '../../database/sql.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { count, epochMs } from '../../http/openapi/parts.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { decideDeletions, listHeldDeletions } from '../sql/deletions/scopes.ts';
import { changeJob, decision, JOB_SCOPE, job, jobScope } from './operator-job.ts';

interface Parts {
  readonly sql: SqlPool;
}

const route = routesAt('/operator/v1/deletions', { api: 'operator' });

const held = z.object({
  ...jobScope,
  held: count.meta({ description: 'Devices that would be erased.' }),
  delivered: count,
  heldAt: epochMs,
});

export const heldDeletionRoutes = (parts: Parts): readonly Route[] => [
  listRoute(parts),
  decisionRoute(parts, 'release'),
  decisionRoute(parts, 'discard'),
];

const listRoute = ({ sql }: Parts) =>
  route.get(
    'listHeldDeletions',
    {
      summary: 'List the push jobs whose deletions are held',
      answer: shown('By job, app and platform, the oldest first.', z.array(held), [
        { ...JOB_SCOPE, held: 900, delivered: 100, heldAt: 1_795_392_000_000 },
      ]),
    },
    async () => {
      const rows = await listHeldDeletions(sql);
      return done(rows.map(({ heldAtMs, ...row }) => ({ ...row, heldAt: heldAtMs })));
    },
  );

/** The engine carries it out, piece by piece, from its next check on. */
const decisionRoute = ({ sql }: Parts, what: 'release' | 'discard') =>
  route.post(
    what === 'release' ? 'releaseHeldDeletions' : 'discardHeldDeletions',
    {
      at: `:job/${what}`,
      summary:
        what === 'release'
          ? 'Erase the devices of held deletions, except those that registered since'
          : 'Keep the devices of held deletions',
      path: { job },
      answer: shown('Decided.', decision, { devices: 900 }),
    },
    async (asked) => {
      const { job: jobId } = asked.path;
      const decided = what === 'release' ? 'released' : 'discarded';
      const devices = await changeJob(sql, asked, `${what}-deletions`, (tx) =>
        decideDeletions(tx, jobId, decided),
      );
      return devices === null
        ? refused(404, `Push job ${jobId} has no held deletions.`)
        : done({ devices });
    },
  );
