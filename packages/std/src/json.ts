/** Reads the JSON of a stranger: any value may arrive, so it is `unknown` until it is checked. */

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Names and values of one text. A megabyte of what people send has one in each eight octets at
 * most; of `{}` it would have 700,000, which become 22 times the memory.
 * @limit names and values in a text of JSON, in a body or in a string of one → `400`
 */
export const JSON_VALUES_MAX = 131_072;

/** Windows puts it before texts. */
const BYTE_ORDER_MARK = '\u{feff}';

export const withoutMark = (text: string): string =>
  text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;

/**
 * The value in a JSON text; undefined, which JSON cannot express, when the text is not JSON, or has
 * too many values. A byte order mark before it means nothing.
 */
export function parseJson(text: string): unknown {
  if (hasTooManyValues(text)) return undefined;
  try {
    return JSON.parse(withoutMark(text));
  } catch {
    // SyntaxError, its only failure.
    return undefined;
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON, BRACKET, BRACE] = [34, 92, 44, 58, 91, 123];

/**
 * Whether a text would have more than `JSON_VALUES_MAX` names and values if it were JSON. Each one
 * but the first follows a comma, a colon or an opening bracket that is in no string.
 */
export function hasTooManyValues(text: string): boolean {
  // Each takes a character at least, so a short text is not looked at.
  if (text.length <= JSON_VALUES_MAX) return false;
  let values = 1;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === COMMA || code === COLON || code === BRACKET || code === BRACE) values += 1;
    if (values > JSON_VALUES_MAX) return true;
  }
  return false;
}

/** Where the string that opens here is closed; the end of the text, if nowhere. */
export function stringEnd(text: string, open: number): number {
  let end = open;
  do end = text.indexOf('"', end + 1);
  while (end !== -1 && isEscaped(text, end));
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(quote - backslashes - 1) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}

/** The object in a text; undefined when it holds none. */
export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Whether it is an object, as JSON writes it in braces. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where an object is meant: PHP writes an empty one as `[]`. */
export const asObject = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 0 ? {} : value;
