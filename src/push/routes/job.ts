/** The shared beginning of push jobs' routes: the path, the id, and the answer for no job. */

import { z } from 'zod';
import { readJobId } from '../../domain/job-id.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { JOB_ID } from './push-schemas.ts';

export const JOBS_PATH = '/push-api/v3/:client/notifications';
export const reads = routesAt(JOBS_PATH, { api: 'notification', needs: 'read' });
export const sends = routesAt(JOBS_PATH, { api: 'notification', needs: 'send' });

/** Also for a job of another client, or of another publisher than a limited key. */
export const NO_JOB = refused(404, 'There is no such push job.');

export const jobId = z.uuid();
const id: PathParameter<string> = {
  description: 'The id of the push job.',
  schema: jobId,
  example: JOB_ID,
  read: readJobId,
  unknown: NO_JOB,
};
export const jobPath = { id };
