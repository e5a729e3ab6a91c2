/** A time in a condition: as far from the sending as a number says, a day, or a moment. */

import { isRelativeTime, readTime } from '../../../src/domain/test-times.ts';
import { localTime } from './format.ts';

/** The sign and the unit of a distance from the sending; or a day of UTC, or a moment. */
export const TIME_FORMS = ['-d', '-h', '+d', '+h', 'day', 'moment'] as const;
export type TimeForm = (typeof TIME_FORMS)[number];

interface TimeParts {
  readonly form: TimeForm;
  /** The value of the input: a number, a day, or a time of the viewer's zone. */
  readonly typed: string;
}

const SECONDS = /:00\.000Z$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Null: it is no time. */
export function timePartsOf(text: string): TimeParts | null {
  const kept = readTime(text);
  if (kept === null) return null;
  if (isRelativeTime(text)) {
    const form = TIME_FORMS.find((one) => one === `${text.at(0)}${text.at(-1)}`);
    return form === undefined ? null : { form, typed: text.slice(1, -1) };
  }
  if (DAY.test(text)) return { form: 'day', typed: text };
  return { form: 'moment', typed: localTime(Number(kept)) };
}

/** The text of an expression; '': nothing is typed. */
export function timeTextOf({ form, typed }: TimeParts): string {
  if (typed === '') return '';
  if (form === 'day') return typed;
  if (form !== 'moment') return `${form.at(0)}${Math.trunc(Number(typed))}${form.at(-1)}`;
  const at = new Date(typed);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().replace(SECONDS, 'Z');
}
