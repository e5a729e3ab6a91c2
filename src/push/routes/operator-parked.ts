/** The operator's routes of parked parts: those of a send that could not be completed. */

import { z } from 'zod';
import type { SqlPool } from '../../database/sql.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { count, epochMs } from '../../http/openapi/parts.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { listParked, releaseParked } from '../sql/ledger/parked-parts.ts';
import { changeJob, decision, JOB_SCOPE, job, jobScope } from './operator-job.ts';

interface Parts {
  readonly sql: SqlPool;
}

const route = routesAt('/operator/v1/parked', { api: 'operator' });

const parked = z.object({
  ...jobScope,
  devices: count,
  since: epochMs,
  failure: z
    .string()
    .nullable()
    .meta({ description: 'The failure of one of its parts; null: its worker or node was lost.' }),
});

export const parkedRoutes = (parts: Parts): readonly Route[] => [
  listRoute(parts),
  releaseRoute(parts),
];

const listRoute = ({ sql }: Parts) =>
  route.get(
    'listParkedParts',
    {
      summary: 'List the push jobs with parked parts, and the reason',
      answer: shown('By job, app and platform, the latest first.', z.array(parked), [
        { ...JOB_SCOPE, devices: 8_192, since: 1_795_392_000_000, failure: null },
      ]),
    },
    async () => {
      const rows = await listParked(sql);
      return done(rows.map(({ sinceMs, ...row }) => ({ ...row, since: sinceMs })));
    },
  );

const releaseRoute = ({ sql }: Parts) =>
  route.post(
    'releaseParkedParts',
    {
      at: ':job/release',
      summary: 'Send the parked parts of a push job',
      description: 'Devices that may have received the push before receive it again.',
      path: { job },
      answer: shown('They will be sent.', decision, { devices: 8_192 }),
    },
    async (asked) => {
      const { job: jobId } = asked.path;
      const devices = await changeJob(sql, asked, 'release-parked', (tx) =>
        releaseParked(tx, jobId),
      );
      return devices === null
        ? refused(404, `Push job ${jobId} has no parked part.`)
        : done({ devices });
    },
  );
