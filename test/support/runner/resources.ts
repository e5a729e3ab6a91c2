/**
 * Finds resources that keep a process alive: connections, servers, timers, threads, processes. A
 * test file that leaves one open disturbs those after it.
 */

import { setTimeout as sleep } from 'node:timers/promises';

export type ResourceCounts = ReadonlyMap<string, number>;

/** A connection that was closed, and a process that was killed, go some moments later. */
const GONE_WITHIN_MS = 2_000;
const LOOK_INTERVAL_MS = 10;
/** They end by themselves, in moments. */
const PASSING = new Set(['FSReqCallback', 'FSReqPromise', 'Immediate']);

const allowed = new Map<string, number>();
let isCounted = true;

/** From now on nothing is counted: a service that all files share opens and closes as it likes. */
export function stopCounting(): void {
  isCounted = false;
}

export function countResources(): ResourceCounts {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (!PASSING.has(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Whatever has come since then stays for the life of the process. */
export function allowSince(before: ResourceCounts): void {
  for (const [name, count] of countResources()) {
    const more = count - (before.get(name) ?? 0);
    if (more > 0) allowed.set(name, (allowed.get(name) ?? 0) + more);
  }
}

/** Resources beyond those that are allowed, with their count; waits a little for them to go. */
export async function leftOpen(): Promise<readonly string[]> {
  const endMs = performance.now() + GONE_WITHIN_MS;
  while (isCounted) {
    const left = [...countResources()]
      .map(([name, count]) => [name, count - (allowed.get(name) ?? 0)] as const)
      .filter(([, more]) => more > 0);
    if (left.length === 0) return [];
    if (performance.now() > endMs) return left.map(([name, more]) => `${more} of ${name}`);
    await sleep(LOOK_INTERVAL_MS);
  }
  return [];
}
