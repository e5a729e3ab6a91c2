/** Finds the fields of a payload that a template reads. */

/** Names that are parts of the language. */
const WORDS: ReadonlySet<string> = new Set([
  'and',
  'or',
  'in',
  'true',
  'false',
  'null',
  'function',
]);
/** Comments, strings, variables, quoted names, names with what stands before and behind. */
const TOKENS =
  /\/\*[\s\S]*?\*\/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\$[\w$]*|`([^`]+)`|(\.\s*)?([A-Za-z_]\w*)(\s*\()?/g;

/**
 * Each once, in the order of the expression. It is read as text: a name within a part of a path
 * may be a field of that part.
 */
export function fieldsReadBy(expression: string): readonly string[] {
  const names = new Set<string>();
  for (const [, quoted, dot, name, call] of expression.matchAll(TOKENS)) {
    if (quoted !== undefined) names.add(quoted);
    else if (name !== undefined && dot === undefined && call === undefined && !WORDS.has(name)) {
      names.add(name);
    }
  }
  return [...names];
}

/** A payload to try a template out with: each field that it reads, with its name as the value. */
export const sampleFor = (expression: string): string =>
  JSON.stringify(Object.fromEntries(fieldsReadBy(expression).map((name) => [name, name])), null, 2);
