/** Reads the JSON of a stranger: any value may arrive, so it is `unknown` until it is checked. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value in a JSON text; undefined, which JSON cannot express, when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // SyntaxError, its only failure.
    return undefined;
  }
}

/** The object in a text; undefined when it holds none. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Whether it is an object, as JSON writes it in braces. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
