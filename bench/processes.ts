/**
 * CPU time and memory of processes: an engine's as it says itself in its metrics, any other's as
 * Linux counts it.
 */

import { readdirSync, readFileSync } from 'node:fs';

const CPU = /^process_cpu_seconds_total (\S+)/m;
const RESIDENT = /^process_resident_memory_bytes (\S+)/m;

const read = async (baseUrl: string, pattern: RegExp): Promise<number> => {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(pattern.exec(text)?.[1]);
};

/** User and system time of all its threads so far, in microseconds. */
export const cpuMicros = async (baseUrl: string): Promise<number> =>
  (await read(baseUrl, CPU)) * 1e6;

/** Its resident memory now, in MiB. */
export const residentMb = async (baseUrl: string): Promise<number> =>
  (await read(baseUrl, RESIDENT)) / 1024 / 1024;

/** Fields of /proc/<pid>/status (proc(5)): resident now, and the most that it ever was. */
export type MemoryField = 'VmRSS' | 'VmHWM';

/** In MiB; NaN where there is no such process, or no /proc. */
export function processMemoryMb(pid: number, field: MemoryField): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const [, kilobytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** Linux counts in hundredths of a second (USER_HZ), whatever the kernel's own clock. */
const TICK_MICROS = 10_000;
/**
 * Positions after the program's name in /proc/<pid>/stat (proc(5)): ppid, utime and stime, and
 * these with cutime and cstime.
 */
const PARENT_FIELD = 1;
const OWN_FIELDS = [11, 12];
const FAMILY_FIELDS = [11, 12, 13, 14];

/** User and system time of a process so far, in microseconds; NaN where there is no /proc. */
export const processCpuMicros = (pid: number): number => timesOf(pid, OWN_FIELDS) ?? Number.NaN;

/**
 * The same of a process, of its children, and of those that have ended: PostgreSQL makes one for
 * each connection.
 */
export function familyCpuMicros(pid: number): number {
  const children = readdirSync('/proc').filter((name) => parentOf(Number(name)) === pid);
  const living = children.map((child) => timesOf(Number(child), OWN_FIELDS) ?? 0);
  return living.reduce((sum, micros) => sum + micros, timesOf(pid, FAMILY_FIELDS) ?? Number.NaN);
}

const timesOf = (pid: number, fields: readonly number[]): number | null => {
  const values = statOf(pid);
  if (values === null) return null;
  return fields.reduce((sum, field) => sum + Number(values[field]), 0) * TICK_MICROS;
};

const parentOf = (pid: number): number | null => {
  const parent = Number.isNaN(pid) ? undefined : statOf(pid)?.[PARENT_FIELD];
  return parent === undefined ? null : Number(parent);
};

/** The fields after the program's name; null: there is no such process. */
function statOf(pid: number): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(') ') + 2).split(' ');
  } catch {
    return null;
  }
}
