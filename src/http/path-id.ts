/** The id in a path. */

import { ID_MAX } from '../domain/tag.ts';

const DIGITS = /^\d{1,10}$/;

/** Null: this is nobody's id. */
export function readId(text: string): number | null {
  const id = DIGITS.test(text) ? Number(text) : 0;
  return id > 0 && id <= ID_MAX ? id : null;
}
