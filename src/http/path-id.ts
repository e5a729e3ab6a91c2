/** The id in a path. */

import { ID_MAX } from '../domain/tag.ts';

const DIGITS = /^\d{1,10}$/;

/** Null: no object has this id. */
export function readId(text: string): number | null {
  const id = DIGITS.test(text) ? Number(text) : 0;
  return id > 0 && id <= ID_MAX ? id : null;
}
