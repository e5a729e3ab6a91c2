/** Divides the process's file descriptors: callers must leave some to stores and providers. */

import { readFileSync } from 'node:fs';

/**
 * Above this, memory is the limit: an idle connection takes some 10 KiB.
 * @limit connections of a process: half of its open files, without those of the embedded database;
 * of more than 8,192 all but the reserve below; never more than → the longest silent one of the
 * address (IPv6: /64) with most is closed
 */
export const CONNECTIONS_MAX = 20_000;
/**
 * Each worker has some hundred connections to providers.
 * @limit open files of a process that are kept for everything but connections of callers
 */
const RESERVED_MAX = 4_096;
/** Used where the system does not say its limit. On macOS, Node.js raises it to more than this. */
const LIMIT_UNKNOWN = 10_240;
/**
 * PostgreSQL accepts no less as `max_files_per_process`.
 * @limit open files of the embedded database: a quarter of the process's, at least
 */
const DATABASE_FILES_MIN = 64;
/**
 * PostgreSQL's own default; it opens some 300 at work.
 * @limit open files of the embedded database: a quarter of the process's, at most → it closes one
 * to open another
 */
const DATABASE_FILES_MAX = 1_000;
/**
 * 64 are the database's; threads, pipes and both ends of its connections are some 100.
 * @limit open files that the embedded database needs to start → the start ends with a sentence
 */
export const EMBEDDED_DESCRIPTORS_MIN = 384;

const LINUX_LIMIT = /^Max open files\s+(\d+|unlimited)/m;

/** The process's soft limit of open files. Node.js raises it to the hard limit when it starts. */
export function descriptorsMax(): number {
  try {
    const [, limit] = LINUX_LIMIT.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined || limit === 'unlimited' ? LIMIT_UNKNOWN : Number(limit);
  } catch {
    return LIMIT_UNKNOWN;
  }
}

/** Files that the embedded database may keep open: a quarter, within PostgreSQL's own bounds. */
export const databaseFilesMaxOf = (descriptors: number): number =>
  Math.min(DATABASE_FILES_MAX, Math.max(DATABASE_FILES_MIN, Math.floor(descriptors / 4)));

/** Connections that callers may hold. `isEmbedded`: the database's files are in this process. */
export function connectionsMaxOf(descriptors: number, isEmbedded: boolean): number {
  const left = isEmbedded ? descriptors - databaseFilesMaxOf(descriptors) : descriptors;
  return Math.min(CONNECTIONS_MAX, Math.max(Math.floor(left / 2), left - RESERVED_MAX));
}
