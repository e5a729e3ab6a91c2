/** The moments of a push: each is a wave, a pass over its audience for some of the devices. */

import { momentOf } from '../../packages/std/src/local-time.ts';

/**
 * Clocks differ in some 38 ways. Two that are nearest become one, at the later moment.
 * @publisherLimit moments of a push at local time → the nearest ones are merged, at the later one
 */
export const WAVES_MAX = 40;

export interface Moment {
  readonly atMs: number;
  /** Devices with one of these time zones. */
  readonly zones: readonly string[];
  /** Devices without a time zone. */
  readonly hasOthers: boolean;
  /** It had passed when the push was accepted, and nothing is sent. */
  readonly isSkipped: boolean;
}

/** How a push with several moments asks for them, and which they are. */
export interface PushWaves extends LocalTime {
  /** In order; one at least is not skipped. */
  readonly moments: readonly Moment[];
}

export interface LocalTime {
  /** The time on the clocks, as `2026-12-01T08:00`. */
  readonly sendAtLocal: string;
  /** Devices whose time has passed get it at once. */
  readonly sendsLate: boolean;
}

/** In order. `othersZone`: of devices without a time zone; null: they have their moment already. */
export function momentsOf(
  localMs: number,
  zones: readonly string[],
  othersZone: string | null,
): readonly Moment[] {
  const found = new Map<number, Moment>();
  const others = othersZone === null ? null : momentIn(localMs, othersZone);
  if (others !== null) found.set(others, { ...nobodyAt(others), hasOthers: true });
  for (const zone of zones) {
    const atMs = momentIn(localMs, zone);
    if (atMs === null) continue;
    const moment = found.get(atMs) ?? nobodyAt(atMs);
    found.set(atMs, { ...moment, zones: [...moment.zones, zone] });
  }
  return [...found.values()].sort((one, other) => one.atMs - other.atMs);
}

const nobodyAt = (atMs: number): Moment => ({
  atMs,
  zones: [],
  hasOthers: false,
  isSkipped: false,
});

/** The moments of the times that were asked for last, by zone. */
const kept = new Map<number, Map<string, number | null>>();
/** @limit local times whose moments are kept in memory → the oldest is forgotten */
const KEPT_MAX = 16;

/** Null: only a later version of the runtime knows the zone. */
function momentIn(localMs: number, zone: string): number | null {
  const known = kept.get(localMs) ?? new Map<string, number | null>();
  if (known.size === 0) {
    const [oldest] = kept.keys();
    if (oldest !== undefined && kept.size >= KEPT_MAX) kept.delete(oldest);
    kept.set(localMs, known);
  }
  const found = known.get(zone);
  if (found !== undefined) return found;
  const atMs = foundIn(localMs, zone);
  // A zone in other letters is the same to the runtime, so there is no end of them.
  if (known.size < ZONES_KEPT_MAX) known.set(zone, atMs);
  return atMs;
}

/** @limit time zones whose moments are kept in memory of a local time → found again each time */
const ZONES_KEPT_MAX = 600;

function foundIn(localMs: number, zone: string): number | null {
  try {
    return momentOf(localMs, zone);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Skips the moments that have passed, or makes one of them, now. Leaves `max` to send at most. */
export function arranged(
  moments: readonly Moment[],
  { sendsLate, nowMs, max }: { sendsLate: boolean; nowMs: number; max: number },
): readonly Moment[] {
  const past = moments.filter(({ atMs }) => atMs <= nowMs);
  const ahead = moments.filter(({ atMs }) => atMs > nowMs);
  if (!sendsLate) {
    return [...past.map((one) => ({ ...one, isSkipped: true })), ...withinMax(ahead, max)];
  }
  const [first, ...others] = past;
  if (first === undefined) return withinMax(ahead, max);
  const now = others.reduce(joined, first);
  return withinMax([{ ...now, atMs: Math.floor(nowMs / SECOND_MS) * SECOND_MS }, ...ahead], max);
}

const SECOND_MS = 1_000;

function withinMax(moments: readonly Moment[], max: number): readonly Moment[] {
  let left = moments;
  while (left.length > max) left = withoutNearest(left);
  return left;
}

function withoutNearest(moments: readonly Moment[]): readonly Moment[] {
  const gaps = moments.slice(1).map(({ atMs }, at) => atMs - (moments[at]?.atMs ?? 0));
  const nearest = gaps.indexOf(Math.min(...gaps));
  return moments.flatMap((moment, at) => {
    const next = moments[nearest + 1];
    if (at === nearest + 1 || next === undefined) return [];
    return at === nearest ? joined(moment, next) : moment;
  });
}

/** Joins two at the time of the later one, so that no device gets it before the hour. */
const joined = (one: Moment, later: Moment): Moment => ({
  ...later,
  zones: [...one.zones, ...later.zones],
  hasOthers: one.hasOthers || later.hasOthers,
});
