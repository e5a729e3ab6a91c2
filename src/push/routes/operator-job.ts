/** A push job that the operator decides about: how a path names it, and the frame of a decision. */

import { z } from 'zod';
import { operatorOrigin } from '../../audit/operator-origin.ts';
import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { readJobId } from '../../domain/job-id.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { findJobClient } from '../sql/notifications/find-job-client.ts';

const uuid = z.uuid();

const EXAMPLE = '0197a3c4-5b6d-7e8f-9a0b-1c2d3e4f5a6b';

export const job: PathParameter<string> = {
  description: 'The id of the push job.',
  schema: uuid,
  example: EXAMPLE,
  read: readJobId,
  unknown: refused(404, 'job must be the id of a push job.'),
};

export const decision = z
  .object({ devices: z.int().min(0) })
  .meta({ id: 'JobDecision', description: 'How many devices it concerns.' });

/** The parts of a row that say which devices of which job it is about. */
export const jobScope = {
  notificationId: uuid,
  client: z.string().meta({ description: 'Whose job it is, by its slug.' }),
  appId: z.int(),
  platformId: z.int(),
};
export const JOB_SCOPE = { notificationId: EXAMPLE, client: 'acme', appId: 1, platformId: 3 };

type DecidedJob = Asked<null, { readonly job: string }>;

/** With its entry in the audit log. Answers the devices that the change concerns; null: none. */
export const changeJob = (
  sql: SqlPool,
  { path: { job: jobId }, request }: DecidedJob,
  what: 'release-parked' | 'release-deletions' | 'discard-deletions',
  change: (tx: Sql) => Promise<number | null>,
): Promise<number | null> =>
  transact(sql, async (tx) => {
    const clientId = await findJobClient(tx, jobId);
    if (clientId === null) return null;
    await shareClient(tx, clientId);
    const devices = await change(tx);
    if (devices !== null) {
      const entry = { action: `notification.${what}`, id: jobId, name: null } as const;
      await recordChange(tx, operatorOrigin(clientId, request), { ...entry, detail: { devices } });
    }
    return devices;
  });
