/** `?cancelJobs=true`, where a right to submit push jobs is taken away. */

import { CANCEL_JOBS } from '../../http/openapi/parts.ts';
import type { QueryParameter } from '../../http/parameters.ts';
import type { Fault } from '../../http/problem.ts';
import { QueryReader } from '../../http/query-reader.ts';

/** The parameter of a request that takes a right away. */
export const cancelJobs: QueryParameter<boolean> = {
  ...CANCEL_JOBS.cancelJobs,
  read: (reader, name) => reader.choice(name, ['true', 'false']) === 'true',
};

interface AskedToCancel {
  readonly cancelJobs: boolean;
  readonly faults: readonly Fault[];
}

/** Whether a request that takes a right away is to cancel the jobs too. */
export function readCancelJobs(query: URLSearchParams): AskedToCancel {
  const reader = new QueryReader(query, ['cancelJobs']);
  const cancelJobs = reader.choice('cancelJobs', ['true', 'false']) === 'true';
  return { cancelJobs, faults: reader.faults };
}
