/** `?cancelJobs=true`, where a right to submit push jobs is taken away. */

import type { Fault } from '../../http/problem.ts';
import { QueryReader } from '../../http/query-reader.ts';

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
