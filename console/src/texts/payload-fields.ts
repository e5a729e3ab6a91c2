/**
 * The fields of a payload that the page has under "more", each an input of one line: a new one is a
 * record here.
 */

import type { Payload } from '../../../packages/client/src/openapi.ts';

interface PayloadField {
  readonly label: string;
  readonly hint?: string;
  readonly type: 'text' | 'number' | 'choice' | 'boolean';
  /** The values of a choice with their words, the first for none; of a boolean `true`, `false`. */
  readonly options?: readonly (readonly [value: string, label: string])[];
  /** It is a field of `present`. */
  readonly isPresented?: true;
}

const MORE = {
  subtitle: {
    label: 'Subtitle',
    hint: 'iPhones show it below the title.',
    type: 'text',
    isPresented: true,
  },
  interruption: {
    label: 'Interruption',
    hint: 'Time sensitive needs a capability of the iOS app.',
    type: 'choice',
    options: [
      ['', 'As usual'],
      ['passive', 'Passive: no sound, no lit screen'],
      ['active', 'Active'],
      ['timeSensitive', 'Time sensitive'],
    ],
    isPresented: true,
  },
  thread: {
    label: 'Grouped with alerts of this ID',
    hint: 'For example the ID of the match.',
    type: 'text',
    isPresented: true,
  },
  replaceable: {
    label: 'Replaceable',
    hint: 'A copy that had to be sent twice shows once.',
    type: 'boolean',
    options: [
      ['', 'As usual'],
      ['true', 'Yes'],
      ['false', 'No: each copy shows by itself'],
    ],
    isPresented: true,
  },
  badge: { label: 'Badge', type: 'number' },
  sound: { label: 'Sound', type: 'text' },
  collapseId: {
    label: 'Replaces earlier alerts with this ID',
    hint: 'Up to 64 characters, for example the ID of the match.',
    type: 'text',
  },
} as const satisfies Readonly<Record<string, PayloadField>>;

type MoreName = keyof typeof MORE;
/** The typed value; '' or null: none. */
export type MoreFields = Record<MoreName, string | number | null>;

export const MORE_FIELDS = Object.entries(MORE) as readonly (readonly [MoreName, PayloadField])[];

/** Where a field is in a payload, as faults name it: `present.subtitle`. */
export const placeOf = (name: MoreName): string => {
  const field: PayloadField = MORE[name];
  return field.isPresented ? `present.${name}` : name;
};

/** The fields of a payload; those that it does not have are empty. */
export const moreOf = (payload: Payload): MoreFields =>
  Object.fromEntries(
    MORE_FIELDS.map(([name, { type, isPresented }]) => {
      const values: Readonly<Record<string, unknown>> = isPresented
        ? (payload.present ?? {})
        : payload;
      const value = values[name] ?? (type === 'number' ? null : '');
      return [name, type === 'boolean' ? String(value) : value];
    }),
  ) as MoreFields;

/** The parts of a payload that were typed into these fields. */
export function typedMore(fields: MoreFields): Payload {
  const typed = MORE_FIELDS.filter(([name]) => (fields[name] ?? '') !== '');
  const pick = (isPresented: boolean): object =>
    Object.fromEntries(
      typed
        .filter(([, field]) => (field.isPresented ?? false) === isPresented)
        .map(([name, { type }]) => [
          name,
          type === 'boolean' ? fields[name] === 'true' : fields[name],
        ]),
    );
  const present = pick(true);
  return { ...pick(false), ...(Object.keys(present).length === 0 ? {} : { present }) };
}

/** Whether the page has an input for a field of a payload, and for each part of it. */
export function hasInput(payload: Payload, name: string): boolean {
  const isMore = (one: string, isPresented: boolean): boolean =>
    MORE_FIELDS.some(
      ([known, field]) => known === one && (field.isPresented ?? false) === isPresented,
    );
  if (name !== 'present') return isMore(name, false);
  return Object.keys(payload.present ?? {}).every((one) => isMore(one, true));
}
