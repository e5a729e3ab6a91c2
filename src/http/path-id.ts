/** The id in a path. */

import { ID_MAX } from '../domain/tag.ts';
import type { HttpRequest } from './handler.ts';

const DIGITS = /^\d{1,10}$/;

/** Null: what stands there is nobody's id. */
export function pathId(request: HttpRequest, name = 'id'): number | null {
  const value = request.params[name] ?? '';
  const id = DIGITS.test(value) ? Number(value) : 0;
  return id > 0 && id <= ID_MAX ? id : null;
}
