/** Numbers and times in the viewer's locale and zone. */

import { PLATFORM_LABELS } from '../../../packages/std/src/platforms.ts';

const NUMBER = new Intl.NumberFormat();
const COMPACT = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const PERCENT = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const CHARACTERS = new Intl.Segmenter();
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The viewer's zone, named where times are shown. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** 4,218,906 */
export const number = (value: number): string => NUMBER.format(value);

/** Devices a second: 4,218; below ten with one decimal, so that a slow send is no 0. */
export const perSecond = (rate: number): string =>
  number(rate < 10 ? Math.round(rate * 10) / 10 : Math.round(rate));

/** Characters as people count them: an emoji is one. */
export const charactersOf = (text: string): number => [...CHARACTERS.segment(text)].length;

/** 4.2M, for axes. */
export const compact = (value: number): string => COMPACT.format(value);

/** 46 %, of a part in a whole; of nothing, 0 %. */
export const percent = (part: number, whole: number): string =>
  PERCENT.format(whole === 0 ? 0 : part / whole);

/** 20:41:02 */
export const time = (atMs: number): string => TIME.format(atMs);

/** 21 Nov 2026, 20:41 */
export const dateTime = (atMs: number): string => DATE_TIME.format(atMs);

/** Today as a time, any other day with its date. */
export const when = (atMs: number, nowMs = Date.now()): string =>
  new Date(atMs).toDateString() === new Date(nowMs).toDateString() ? time(atMs) : dateTime(atMs);

/** `2026-11-21`, a day of the statistics (UTC), as 21 Nov. */
export const day = (date: string): string => DAY.format(Date.parse(date));

/** The value of a field for a local time, `2026-11-21T20:41`; with seconds where it has some. */
export function localTime(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  const seconds = at.getSeconds() === 0 ? '' : `:${two(at.getSeconds())}`;
  return `${date}T${two(at.getHours())}:${two(at.getMinutes())}${seconds}`;
}

/** 3 minutes ago, in 2 hours. */
export function ago(atMs: number, nowMs = Date.now()): string {
  const distanceMs = atMs - nowMs;
  const size = Math.abs(distanceMs);
  if (size < MINUTE_MS) return AGO.format(Math.round(distanceMs / SECOND_MS), 'second');
  if (size < HOUR_MS) return AGO.format(Math.round(distanceMs / MINUTE_MS), 'minute');
  if (size < DAY_MS) return AGO.format(Math.round(distanceMs / HOUR_MS), 'hour');
  return AGO.format(Math.round(distanceMs / DAY_MS), 'day');
}

/** 14 s, 3 min, 2 h: how long something takes. */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 2 * MINUTE_MS) return `${Math.round(ms / SECOND_MS)} s`;
  if (ms < 2 * HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  return `${Math.round(ms / HOUR_MS)} h`;
}

/** The name of a platform. */
export const platformName = (platformId: number): string =>
  PLATFORM_LABELS.get(platformId) ?? `platform ${platformId}`;
