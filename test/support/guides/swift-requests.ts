/**
 * The requests that a program in Swift makes, as data: `call(path, fields)` with the fields as a
 * literal of the language, and names for what the program knows.
 */

export interface SwiftRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const CALL = /\bcall\("([^"]+)",\s*\[([^\]]*)\]/g;
const FIELD = /"(\w+)": (\w+)/g;
const IN_TEXT = /\\\((\w+)\)/g;
const DIGITS = /^\d+$/;

/** `known`: what the names of the program stand for. Any other name is an error. */
export function requestsOf(
  code: string,
  known: Readonly<Record<string, unknown>>,
): readonly SwiftRequest[] {
  const meaningOf = (name: string): unknown => {
    if (DIGITS.test(name)) return Number(name);
    if (!(name in known)) throw new Error(`what is ${name}?`);
    return known[name];
  };
  return [...code.matchAll(CALL)].map(([, path = '', literal = '']) => {
    const fields = [...literal.matchAll(FIELD)].map(([, name = '', value = '']) => [
      name,
      meaningOf(value),
    ]);
    const rest = literal.replaceAll(FIELD, '').replaceAll(/[\s,]/g, '');
    if (rest !== '') throw new Error(`${path}: ${rest} is not understood`);
    return {
      path: path.replaceAll(IN_TEXT, (_, name: string) => String(meaningOf(name))),
      body: Object.fromEntries(fields),
    };
  });
}
