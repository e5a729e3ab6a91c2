/** CPU time of an engine's process, as it says itself in its metrics. */

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
