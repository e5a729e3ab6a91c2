/** Times in tests of attributes: of ISO 8601, epoch milliseconds, or as far from now as `-30d`. */

import { isoDayOrTimeMs } from '../../packages/std/src/iso-8601.ts';

const RELATIVE = /^([+-])(\d{1,6})([dh])$/;
const DECIMAL = /^\d{12,13}$/;
const UNITS_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000 };
/** The first moment that 32 bits of minutes, or of seconds, do not reach: in 2106. */
const TIMES_END_MS = 2 ** 32 * 1_000;

/** Reads a time as a job keeps it: from now, or in epoch milliseconds. Null: it is none. */
export function readTime(text: string): string | null {
  if (RELATIVE.test(text)) return text;
  const ms = DECIMAL.test(text) ? Number(text) : isoDayOrTimeMs(text);
  return ms === null || !isWithinTimes(ms) ? null : String(ms);
}

/** Reads a time that stands by itself, or a number of epoch milliseconds. Null: it is none. */
export function readMoment(value: unknown): number | null {
  if (typeof value === 'number') return isWithinTimes(value) ? value : null;
  if (typeof value !== 'string' || isRelativeTime(value)) return null;
  const kept = readTime(value);
  return kept === null ? null : Number(kept);
}

const isWithinTimes = (ms: number): boolean => ms >= 0 && ms < TIMES_END_MS;

/** Whether it moves with the moment at which it is tested. */
export const isRelativeTime = (kept: string): boolean => RELATIVE.test(kept);

/** Epoch milliseconds of a time that was kept. */
export function timeOf(kept: string, nowMs: number): number {
  const [, sign, count, unit = ''] = RELATIVE.exec(kept) ?? [];
  if (sign === undefined) return Number(kept);
  const distance = Number(count) * (UNITS_MS[unit] ?? 0);
  return sign === '-' ? nowMs - distance : nowMs + distance;
}
