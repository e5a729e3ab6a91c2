/** Header fields, received and sent: a list of names and values, in order. */

import type { Field } from '../../../http2/src/hpack/field.ts';

/** A field that recurs with the same value; `name` is in lower case. */
export const recurringField = (name: string, value: string): Field => ({
  name,
  value,
  indexing: 'incremental',
});

/** A field whose value differs each time. */
export const singularField = (name: string, value: string): Field => ({
  name,
  value,
  indexing: 'without',
});

export function fieldValue(fields: readonly Field[], name: string): string | undefined {
  for (const field of fields) if (field.name === name) return field.value;
  return undefined;
}

/** Whether a name occurs twice. */
export function hasDuplicates(fields: readonly Field[]): boolean {
  const names = new Set<string>();
  for (const { name } of fields) names.add(name);
  return names.size < fields.length;
}

/** Whether both lists are equal. Recurring fields are the same objects, which makes this cheap. */
export function sameFields(some: readonly Field[], others: readonly Field[]): boolean {
  if (some.length !== others.length) return false;
  for (let index = 0; index < some.length; index += 1) {
    const one = some[index];
    const other = others[index];
    if (one !== other && (one?.name !== other?.name || one?.value !== other?.value)) return false;
  }
  return true;
}
