/**
 * Moments of a local time: "08:00 where the reader is". The rules of the zones are those of the
 * runtime (Intl).
 */

const LOCAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/;
const SECOND_MS = 1_000;
/** Further than any clock is from UTC, and less than from one change of a zone to the next. */
const AROUND_MS = 26 * 3_600_000;

/** Reads `2026-12-01T08:00`: what its clock shows, as milliseconds. Null: there is no such time. */
export function localMsOf(text: string): number | null {
  if (!LOCAL.test(text)) return null;
  const ms = Date.parse(`${text}:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? ms : null;
}

/**
 * The first moment at which the clocks of a zone show this time or a later one. A time that they
 * skip is the moment of the skip; of a time that they show twice it is the first. Throws a
 * RangeError where the runtime does not know the zone.
 */
export function momentOf(localMs: number, zone: string): number {
  const offsetAt = offsetsOf(zone);
  const before = offsetAt(localMs - AROUND_MS);
  const after = offsetAt(localMs + AROUND_MS);
  // Ahead of UTC means earlier.
  for (const offset of [Math.max(before, after), Math.min(before, after)]) {
    const ms = localMs - offset;
    if (offsetAt(ms) === offset) return ms;
  }
  return changeBetween(offsetAt, localMs - after, localMs - before);
}

type OffsetAt = (ms: number) => number;

/** To make one takes longer than to use it. */
const kept = new Map<string, OffsetAt>();
/** @limit time zones whose clocks are kept in memory → made again each time */
const KEPT_MAX = 600;

/** How far the clocks of a zone are ahead of UTC. */
function offsetsOf(zone: string): OffsetAt {
  const known = kept.get(zone);
  if (known !== undefined) return known;
  const made = newOffsetsOf(zone);
  if (kept.size < KEPT_MAX) kept.set(zone, made);
  return made;
}

function newOffsetsOf(zone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (ms) => {
    const shown: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(ms)) shown[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
    return (
      Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(ms / SECOND_MS) * SECOND_MS
    );
  };
}

/** The first second with the offset that is in force at `endMs`, of which `startMs` has another. */
function changeBetween(offsetAt: OffsetAt, startMs: number, endMs: number): number {
  const after = offsetAt(endMs);
  let [low, high] = [startMs / SECOND_MS, endMs / SECOND_MS];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle * SECOND_MS) === after) high = middle;
    else low = middle;
  }
  return high * SECOND_MS;
}
