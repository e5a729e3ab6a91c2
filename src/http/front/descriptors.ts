/**
 * How many connections a process can take and still open what it needs itself: each is a file
 * descriptor.
 */

import { readFileSync } from 'node:fs';

/** Memory, not descriptors, is the limit then: an idle connection takes some 10 KiB. */
export const CONNECTIONS_MAX = 20_000;
/**
 * Kept for stores, providers, files and threads, where there are enough: some hundred connections
 * to providers for each worker.
 */
const RESERVED_MAX = 4_096;
/** Where the system does not say: what Node.js raises the limit to on macOS is more. */
const LIMIT_UNKNOWN = 10_240;

const LINUX_LIMIT = /^Max open files\s+(\d+|unlimited)/m;

/** The process's soft limit of open files. Node.js raises it to the hard limit when it starts. */
export function descriptorsMax(): number {
  try {
    const [, limit] = LINUX_LIMIT.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined || limit === 'unlimited' ? LIMIT_UNKNOWN : Number(limit);
  } catch {
    // Not Linux.
    return LIMIT_UNKNOWN;
  }
}

/**
 * Connections that callers may hold of so many descriptors: half of few, all but a reserve of many.
 */
export const connectionsMaxOf = (descriptors: number): number =>
  Math.min(CONNECTIONS_MAX, Math.max(Math.floor(descriptors / 2), descriptors - RESERVED_MAX));
