/** JSON of a stranger: anything may arrive, so it is unknown until looked at. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value that a text stands for; undefined, for which JSON has no word, when it is not JSON. */
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

/** Whether JSON could have written it in braces. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
