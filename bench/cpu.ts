/** CPU time of processes: an engine's as it says itself in its metrics, any other's as Linux counts it. */

import { readFileSync } from 'node:fs';

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

/** Linux counts in hundredths of a second (USER_HZ), whatever the kernel's own clock. */
const TICK_MICROS = 10_000;
/** Of what follows the program's name in /proc/<pid>/stat: utime and stime (proc(5)). */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

/** User and system time of a process so far, in microseconds; NaN where there is no /proc. */
export function processCpuMicros(pid: number): number {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
    const fields = rest.split(' ');
    return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * TICK_MICROS;
  } catch {
    return Number.NaN;
  }
}
