/** The moments at which a local time comes in the zones of the devices. */

import { localMsOf, momentOf } from '../../../packages/std/src/local-time.ts';
import { dateTime } from './format.ts';

export interface ZoneCount {
  readonly value: string;
  /** `<5`: few. */
  readonly devices: number | string;
}

export interface LocalWave {
  readonly atMs: number;
  /** The zones with the most devices first. */
  readonly zones: readonly string[];
  readonly devices: number;
  /** Some zones have few devices: there are some more. */
  readonly hasMore: boolean;
}

/** No clock of a place is later. */
const LAST_ZONE = 'Etc/GMT+12';

/** The value of the input without its seconds: `2026-12-01T08:00`. */
export const toTheMinute = (sendAt: string): string => sendAt.slice(0, 'YYYY-MM-DDTHH:MM'.length);

/** When the time comes where it comes last. Null: it is no time. */
export function lastMomentOf(sendAt: string): number | null {
  const localMs = localMsOf(toTheMinute(sendAt));
  return localMs === null ? null : momentOf(localMs, LAST_ZONE);
}

/** The date and the time on clocks wherever they are. */
export const onClocks = (sendAt: string): string => dateTime(new Date(sendAt).getTime());

/** In order. A zone that this browser does not know is left out. */
export function localWavesOf(sendAt: string, zones: readonly ZoneCount[]): readonly LocalWave[] {
  const localMs = localMsOf(toTheMinute(sendAt));
  if (localMs === null) return [];
  const waves = new Map<number, LocalWave>();
  for (const { value, devices } of zones) {
    const atMs = momentIn(localMs, value);
    if (atMs === null) continue;
    const wave = waves.get(atMs) ?? { atMs, zones: [], devices: 0, hasMore: false };
    const isCounted = typeof devices === 'number';
    waves.set(atMs, {
      atMs,
      zones: [...wave.zones, value],
      devices: wave.devices + (isCounted ? devices : 0),
      hasMore: wave.hasMore || !isCounted,
    });
  }
  return [...waves.values()].sort((one, other) => one.atMs - other.atMs);
}

function momentIn(localMs: number, zone: string): number | null {
  try {
    return momentOf(localMs, zone);
  } catch {
    return null;
  }
}

const DAY_MS = 86_400_000;

/** The place of a wave on a line of a day or longer, from 0 to 1. */
export function placeOf({ atMs }: LocalWave, waves: readonly LocalWave[]): number {
  const first = waves[0]?.atMs ?? atMs;
  const last = waves.at(-1)?.atMs ?? atMs;
  return (atMs - first) / Math.max(DAY_MS, last - first);
}
