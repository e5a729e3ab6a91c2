/**
 * Reads times in ISO 8601. Date.parse alone would take a day that does not exist for one of the
 * next month, and reads further forms, each engine its own.
 */

/** The form of such a time. */
export const ISO_TIME =
  /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/i;
const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Epoch milliseconds of a date, a time of day and a zone; null: the text is no such time. */
export const isoTimeMs = (text: string): number | null => existing(text, ISO_TIME);

/** The same for a date too; a date alone is the beginning of its day in UTC. */
export const isoDayOrTimeMs = (text: string): number | null =>
  isoTimeMs(text) ?? existing(text, DAY);

function existing(text: string, form: RegExp): number | null {
  const [, year, month, day] = form.exec(text) ?? [];
  if (year === undefined || Number(day) > daysIn(Number(year), Number(month))) return null;
  // It checks all other fields.
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

function daysIn(year: number, month: number): number {
  const isLeapYear = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeapYear ? 29 : (DAYS[month - 1] ?? 0);
}
