/**
 * Bounds a payload before anything is made of it. The walk ends where a bound is passed, so it
 * costs no more than the largest payload that is taken.
 */

import type { JsonObject } from '../../packages/std/src/json.ts';

/**
 * Deeper than any real message; recursion over a caller's JSON needs an end.
 * @publisherLimit nesting of a payload → `400`
 */
export const PAYLOAD_DEPTH_MAX = 32;
/**
 * Characters of its names and texts, with one for each value: in one language, and as many more in
 * texts for each further one. A message has 4 KiB at most. Templates and overlays for one platform
 * may begin with more; nothing above this becomes so little.
 * @publisherLimit characters of names and texts of a payload in one language, with one for each
 * value → `400`
 */
export const PAYLOAD_CHARACTERS_MAX = 65_536;

export const PAYLOAD_TOO_LONG = `has more than ${PAYLOAD_CHARACTERS_MAX} characters, of which no message of 4096 bytes can be made.`;

/**
 * Why a payload is not to be looked at: it is too long or too deep, or holds what cannot be stored
 * (PostgreSQL takes neither NUL nor lone surrogates). `further`: characters for texts in further
 * languages, which these fields may use.
 */
export function boundsFault(
  payload: JsonObject,
  further: { readonly fields: readonly string[]; readonly charactersMax: number },
): string | null {
  const common = { left: PAYLOAD_CHARACTERS_MAX };
  const texts = { left: PAYLOAD_CHARACTERS_MAX + further.charactersMax };
  for (const [key, value] of Object.entries(payload)) {
    const room = further.fields.includes(key) ? texts : common;
    const found = faultIn(key, 0, room) ?? faultIn(value, 1, room);
    if (found !== null) return found;
  }
  return null;
}

function faultIn(value: unknown, depth: number, room: { left: number }): string | null {
  room.left -= typeof value === 'string' ? value.length : 1;
  if (room.left < 0) return PAYLOAD_TOO_LONG;
  if (typeof value === 'string') {
    return value.includes('\0') || !value.isWellFormed()
      ? 'contains a NUL character or half a surrogate pair, which cannot be stored.'
      : null;
  }
  if (typeof value !== 'object' || value === null) return null;
  if (depth >= PAYLOAD_DEPTH_MAX) return `is nested deeper than ${PAYLOAD_DEPTH_MAX} levels.`;
  if (Array.isArray(value)) return faultAmong(value, depth, room);
  for (const key in value) {
    const found = faultIn(key, depth, room) ?? faultIn((value as JsonObject)[key], depth + 1, room);
    if (found !== null) return found;
  }
  return null;
}

function faultAmong(
  values: readonly unknown[],
  depth: number,
  room: { left: number },
): string | null {
  for (const value of values) {
    const found = faultIn(value, depth + 1, room);
    if (found !== null) return found;
  }
  return null;
}
