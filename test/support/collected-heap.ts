/**
 * How much of this thread's heap is in use by what somebody still holds: read after full
 * collections.
 */

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A second collection frees the objects that a first one finalises. */
const COLLECTIONS = 3;

/** Octets of the JavaScript heap of the thread that asks. */
export function collectedHeapOctets(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let times = 0; times < COLLECTIONS; times += 1) collect();
  return getHeapStatistics().used_heap_size;
}
