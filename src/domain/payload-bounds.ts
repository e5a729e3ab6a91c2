/** Bounds a payload before anything is made of it; the walk ends where a bound is passed. */

import type { JsonObject } from '../../packages/std/src/json.ts';

/**
 * Recursion over a caller's JSON needs an end.
 * @publisherLimit nesting of a payload → `400`
 */
export const PAYLOAD_DEPTH_MAX = 32;
/**
 * A message has 4 KiB at most; templates and overlays may begin with more.
 * @publisherLimit characters of names and texts of a payload in one language, with one for each
 * value → `400`
 */
export const PAYLOAD_CHARACTERS_MAX = 65_536;

/**
 * No provider keeps a message for longer than four weeks.
 * @publisherLimit `ttl` → `400`
 */
export const TTL_SECONDS_MAX = 2_419_200;

export const PAYLOAD_TOO_LONG = `has more than ${PAYLOAD_CHARACTERS_MAX} characters, of which no message of 4096 bytes can be made.`;

/** Why a payload is refused: too long, too deep, or not storable. `further`: room for languages. */
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
