/** JSON from a peer: anything may arrive, so it is unknown until looked at. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The JSON object in a text; undefined when the text holds none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
