/**
 * How many connections a process can accept and still open its own files and sockets: each takes a
 * file descriptor.
 */

import { readFileSync } from 'node:fs';

/** Above this, memory is the limit and not descriptors: an idle connection takes some 10 KiB. */
export const CONNECTIONS_MAX = 20_000;
/**
 * Kept for stores, providers, files and threads, if there are enough descriptors: each worker has
 * some hundred connections to providers.
 */
const RESERVED_MAX = 4_096;
/** Used where the system does not tell the limit. On macOS, Node.js raises it to more than this. */
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
 * Connections that callers may hold: half of a small number of descriptors, all but a reserve of a
 * large one.
 */
export const connectionsMaxOf = (descriptors: number): number =>
  Math.min(CONNECTIONS_MAX, Math.max(Math.floor(descriptors / 2), descriptors - RESERVED_MAX));
