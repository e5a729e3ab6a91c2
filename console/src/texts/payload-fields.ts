/**
 * The fields of a payload that the page has under "more", each an input of one line: a new one is a
 * record here.
 */

import type { Payload } from '../../../packages/client/src/openapi.ts';

interface PayloadField {
  readonly label: string;
  readonly hint?: string;
  readonly type: 'text' | 'number';
}

const MORE = {
  badge: { label: 'Badge', type: 'number' },
  sound: { label: 'Sound', type: 'text' },
  collapseId: {
    label: 'Replaces earlier alerts with this ID',
    hint: 'Up to 64 characters, for example the ID of the match.',
    type: 'text',
  },
} as const satisfies Partial<Record<keyof Payload, PayloadField>>;

type MoreName = keyof typeof MORE;
/** The typed value; '' or null: none. */
export type MoreFields = Record<MoreName, string | number | null>;

export const MORE_FIELDS = Object.entries(MORE) as readonly (readonly [MoreName, PayloadField])[];
export const MORE_NAMES = MORE_FIELDS.map(([name]) => name);

/** The fields of a payload; those that it does not have are empty. */
export const moreOf = (payload: Payload): MoreFields =>
  Object.fromEntries(
    MORE_FIELDS.map(([name, { type }]) => [name, payload[name] ?? (type === 'number' ? null : '')]),
  ) as MoreFields;
