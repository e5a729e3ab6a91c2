/** Lays a publisher's part for one provider over the message: objects merge, the rest replaces. */

import type { JsonObject } from '../../packages/std/src/json.ts';
import { asObject, isObject } from '../../packages/std/src/json.ts';

/** A new object, built from entries: a key `__proto__` stays a key. */
export function overlay(base: JsonObject, over: JsonObject): JsonObject {
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    const above = isObject(below) ? asObject(value) : value;
    merged.set(key, isObject(below) && isObject(above) ? overlay(below, above) : above);
  }
  return Object.fromEntries(merged);
}
