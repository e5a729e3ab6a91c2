/**
 * Reads the head of an HTTP/1.1 request strictly (RFC 9112). A head that two readers could
 * understand in two ways is refused: a proxy in front may have understood it in the other way.
 */

import type { Malformed } from './front.ts';
import type { FieldValues, ParsedHead } from './head-fields.ts';
import {
  BAD_FIELD,
  BAD_REQUEST_LINE,
  HeadFields,
  malformed,
  TARGET_LENGTH_MAX,
  TARGET_TOO_LONG,
} from './head-fields.ts';

/**
 * Real clients send fewer than twenty.
 * @limit header lines of a request → `431`
 */
export const HEADER_LINES_MAX = 100;
/** Spellings of header names that are remembered. Further ones are looked up each time. */
const SPELLINGS_MAX = 1_000;

const TAB = 0x09;
const SPACE = 0x20;
const COLON = 0x3a;

/** Bits for the parts of a head in which a character may occur, by its code. */
const TOKEN = 1;
/** A character of a request target: printable ASCII without the space. */
const VISIBLE = 2;
/** RFC 9110, 5.5: visible characters, spaces and tabs; bytes above ASCII are taken as Latin-1. */
const VALUE = 4;
const TOKEN_CHARACTER = /[!#$%&'*+.^_`|~\dA-Za-z-]/;
const KINDS = Uint8Array.from({ length: 256 }, (_, code) => {
  const isVisible = code > SPACE && code < 0x7f;
  return (
    (TOKEN_CHARACTER.test(String.fromCharCode(code)) ? TOKEN : 0) |
    (isVisible ? VISIBLE : 0) |
    (isVisible || code === SPACE || code === TAB || code >= 0x80 ? VALUE : 0)
  );
});

const VERSION = /^HTTP\/(\d)\.(\d)$/;
const CURRENT = 'HTTP/1.1';
const ABSOLUTE = /^https?:\/\/[^/?#]+/i;
const UNREAD = -1;

const TOO_MANY_LINES = malformed(
  431,
  `The request may have ${HEADER_LINES_MAX} header lines at most.`,
);

/**
 * Reads heads, and of each the headers of a list. Works character by character, with one look-up
 * for each header: this runs for every request, and with regular expressions it took a quarter of
 * a front's time.
 */
export class HeadParser {
  readonly #fields: HeadFields;
  /**
   * The index in the names of each spelling received. A look-up needs no copy of the name in lower
   * case.
   */
  readonly #spellings = new Map<string, number>();

  /**
   * `readNames`: the headers that are read, in lower case. Only the form of the others is checked.
   */
  constructor(readNames: readonly string[]) {
    this.#fields = new HeadFields(readNames);
  }

  /** `text`: from the first byte of the request line to before the empty line, in Latin-1. */
  parse(text: string): ParsedHead | Malformed {
    const lineEnd = endOfLine(text, 0);
    const methodEnd = endOf(text, 0, lineEnd, TOKEN);
    const targetEnd = endOf(text, methodEnd + 1, lineEnd, VISIBLE);
    if (
      methodEnd === 0 ||
      targetEnd <= methodEnd + 1 ||
      text.charCodeAt(methodEnd) !== SPACE ||
      text.charCodeAt(targetEnd) !== SPACE
    ) {
      return BAD_REQUEST_LINE;
    }
    const version = versionFault(text, targetEnd + 1, lineEnd);
    if (version !== null) return version;
    const target = text.slice(methodEnd + 1, targetEnd);
    if (target.length > TARGET_LENGTH_MAX) return TARGET_TOO_LONG;
    const path = pathOf(target);
    if (path === null) return BAD_REQUEST_LINE;
    const values = this.#readFields(text, lineEnd + 2);
    if (!Array.isArray(values)) return values;
    return this.#fields.assemble(text.slice(0, methodEnd), path, values);
  }

  #readFields(text: string, from: number): FieldValues | Malformed {
    const values = this.#fields.noValues();
    let lines = 0;
    for (let start = from; start < text.length; lines += 1) {
      if (lines === HEADER_LINES_MAX) return TOO_MANY_LINES;
      const end = endOfLine(text, start);
      const colon = endOf(text, start, end, TOKEN);
      // A name with a space before the colon is not valid, nor is a line that continues the one
      // before (RFC 9112, 5.1 and 5.2).
      const isField =
        colon > start &&
        text.charCodeAt(colon) === COLON &&
        endOf(text, colon + 1, end, VALUE) === end;
      if (!isField) return BAD_FIELD;
      const index = this.#indexOf(text.slice(start, colon));
      if (index !== UNREAD) {
        const value = withoutSpaceAround(text, colon + 1, end);
        const fault = this.#fields.add(values, index, value);
        if (fault !== null) return fault;
      }
      start = end + 2;
    }
    return values;
  }

  #indexOf(spelling: string): number {
    const known = this.#spellings.get(spelling);
    if (known !== undefined) return known;
    const index = this.#fields.names.indexOf(spelling.toLowerCase());
    // Names that we do not read are not remembered: a caller can invent any number of them.
    if (index !== UNREAD && this.#spellings.size < SPELLINGS_MAX)
      this.#spellings.set(copyOf(spelling), index);
    return index;
  }
}

/** A later minor version is accepted, too (RFC 9110, 2.5). */
function versionFault(text: string, from: number, end: number): Malformed | null {
  if (end - from === CURRENT.length && text.startsWith(CURRENT, from)) return null;
  const [, major, minor] = VERSION.exec(text.slice(from, end)) ?? [];
  if (major === undefined) return BAD_REQUEST_LINE;
  return major === '1' && minor !== '0' ? null : malformed(505, 'This service speaks HTTP/1.1.');
}

/** Where a run of characters of a kind ends. */
function endOf(text: string, from: number, end: number, kind: number): number {
  let at = from;
  while (at < end && ((KINDS[text.charCodeAt(at)] ?? 0) & kind) !== 0) at += 1;
  return at;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from);
  return end < 0 ? text.length : end;
}

/** Origin form; absolute form, which a server must accept, too; `*` (RFC 9112, 3.2). */
function pathOf(target: string): string | null {
  if (target.startsWith('/') || target === '*') return target;
  const [origin] = ABSOLUTE.exec(target) ?? [];
  if (origin === undefined) return null;
  const rest = target.slice(origin.length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/**
 * Removes spaces and tabs only (RFC 9110, 5.6.3): `trim` would remove more, and see `chunked` where
 * another reader does not.
 */
function withoutSpaceAround(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

const isSpace = (code: number): boolean => code === SPACE || code === TAB;

/** A substring keeps the whole string in memory: here, a head. */
const copyOf = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
