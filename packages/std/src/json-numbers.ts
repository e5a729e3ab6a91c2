/**
 * Finds numbers in a JSON text that would be written again with other digits. JavaScript has
 * doubles: they lose digits beyond 2^53, and forget that 1.1 was written as 1.10.
 */

import { parseJson, stringEnd } from './json.ts';

interface ChangedNumber {
  /** The names and list positions that lead to it, joined by dots. */
  readonly path: string;
  /** Describes the fault: a sentence without its subject and its full stop. */
  readonly message: string;
}

type Path = readonly (string | number)[];

/**
 * More of one text are not looked for: an answer lists no more faults.
 * @limit numbers whose digits would change that an answer names → not named
 */
const CHANGED_MAX = 100;
/**
 * A number may be written with a million digits; a sentence has room for some.
 * @limit digits of a number that is named because they would change → cut
 */
const DIGITS_SHOWN_MAX = 40;

const [QUOTE, COMMA, COLON, MINUS, NINE] = [34, 44, 58, 45, 57];
const [BRACKET, BRACKET_END, BRACE, BRACE_END] = [91, 93, 123, 125];
const ZERO = 48;

/** A whole number of so few digits is kept. */
const PLAIN_DIGITS_MAX = 15;
/** Characters that may follow the digits of a number that is not whole: `.`, `e`, `E`. */
const FURTHER: ReadonlySet<number> = new Set([46, 101, 69]);
const WHOLE = /^-?\d+$/;
const LITERAL = /[-+.\deE]+/y;

/**
 * A path is shown with so many names, and so many characters of each.
 * @limit names of the path of such a number → cut
 */
const NAMES_SHOWN_MAX = 32;
/** @limit each name of such a path → cut */
const NAME_LENGTH_MAX = 64;

/**
 * Those of a text that is valid JSON. `isKept`: whether the number at a path is kept or passed on;
 * the others are only read.
 */
export const changedNumbers = (
  text: string,
  isKept: (path: Path) => boolean = () => true,
): readonly ChangedNumber[] => (hasChangedNumber(text) ? locate(text, isKept) : []);

/** Looks at each character outside of strings once, and keeps nothing. */
function hasChangedNumber(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (beginsNumber(code)) {
      const end = wholeEnd(text, at + 1);
      const isPlain = end - at <= PLAIN_DIGITS_MAX && !FURTHER.has(text.charCodeAt(end));
      if (!(isPlain && code !== MINUS) && changeOf(literalAt(text, at)) !== null) return true;
      at = end - 1;
    }
  }
  return false;
}

/** Where the digits from here on end. */
function wholeEnd(text: string, from: number): number {
  let end = from;
  for (let code = text.charCodeAt(end); code >= ZERO && code <= NINE; ) {
    end += 1;
    code = text.charCodeAt(end);
  }
  return end;
}

function locate(text: string, isKept: (path: Path) => boolean): readonly ChangedNumber[] {
  const found: ChangedNumber[] = [];
  /** The position in each open list, the name in each open object. */
  const path: (string | number)[] = [];
  let isName = false;
  for (let at = 0; at < text.length && found.length < CHANGED_MAX; at += 1) {
    const code = text.charCodeAt(at);
    const last = path.length - 1;
    if (code === QUOTE) {
      const end = stringEnd(text, at);
      if (isName) path[last] = String(parseJson(text.slice(at, end + 1)));
      at = end;
    } else if (code === BRACE || code === BRACKET) {
      path.push(code === BRACE ? '' : 0);
      isName = code === BRACE;
    } else if (code === BRACE_END || code === BRACKET_END) {
      path.pop();
      isName = false;
    } else if (code === COLON) isName = false;
    else if (code === COMMA) {
      const before = path[last];
      isName = typeof before === 'string';
      if (typeof before === 'number') path[last] = before + 1;
    } else if (beginsNumber(code)) {
      const literal = literalAt(text, at);
      const message = changeOf(literal);
      if (message !== null && isKept(path)) found.push({ path: shown(path), message });
      at += literal.length - 1;
    }
  }
  return found;
}

const shown = (path: Path): string =>
  path
    .slice(0, NAMES_SHOWN_MAX)
    .map((name) => String(name).slice(0, NAME_LENGTH_MAX))
    .join('.');

const beginsNumber = (code: number): boolean => code === MINUS || (code >= ZERO && code <= NINE);

function literalAt(text: string, at: number): string {
  LITERAL.lastIndex = at;
  return LITERAL.exec(text)?.[0] ?? '';
}

/**
 * Null: it is kept. A whole number beyond 2^53 is refused even if it happens to keep its digits:
 * the next id of the same publisher would not.
 */
function changeOf(literal: string): string | null {
  const value = Number(literal);
  const again = JSON.stringify(value);
  if (again !== literal) {
    return `is written ${literal.slice(0, DIGITS_SHOWN_MAX)} and would arrive as ${again}; write it as a string`;
  }
  if (!WHOLE.test(literal) || Number.isSafeInteger(value)) return null;
  return 'is beyond 2^53, where numbers lose digits; write it as a string';
}
