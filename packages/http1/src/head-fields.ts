/**
 * The rules of a head that do not depend on who splits it into lines: which headers are read, how
 * several lines of one go together, and how long the body is (RFC 9110, 9112).
 */

import type { Malformed } from './front.ts';
import { RequestHeaders } from './request-head.ts';

/** How long the body is (RFC 9112, 6.3). */
type Framing = { readonly kind: 'length'; readonly bytes: number } | { readonly kind: 'chunked' };

export interface ParsedHead {
  readonly kind: 'head';
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly framing: Framing;
  /** The caller sends nothing more on this connection. */
  readonly closes: boolean;
  /** The caller waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
}

/** The values of the headers that are read, in the order of their names; null: not sent. */
export type FieldValues = (string | null)[];

/**
 * The targets of this service are far shorter.
 * @limit characters of the path of a request → `414`
 */
export const TARGET_LENGTH_MAX = 8_192;

const DIGITS = /^\d{1,15}$/;
const HOST = /^[^\s/?#@\\,]*$/;

/**
 * Headers that may come in several lines, which make one list (RFC 9110, 5.3). Two lines of any
 * other header that we read contradict each other; but Content-Type, which hardly any route looks
 * at.
 */
const LISTS: ReadonlySet<string> = new Set([
  'accept',
  'access-control-request-headers',
  'connection',
  'content-type',
  'cookie',
  'if-none-match',
  'sec-fetch-site',
  'transfer-encoding',
  'x-forwarded-for',
  'x-forwarded-proto',
]);
const FRAMING: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding']);
/**
 * Headers that are always read. They come first, so that each has the same index in every list of
 * names.
 */
const OWN_NAMES = [
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'expect',
  'cookie',
] as const;
const indexOf = (name: (typeof OWN_NAMES)[number]): number => OWN_NAMES.indexOf(name);
const HOST_INDEX = indexOf('host');
const CONTENT_LENGTH = indexOf('content-length');
const TRANSFER_ENCODING = indexOf('transfer-encoding');
const CONNECTION = indexOf('connection');
const EXPECT = indexOf('expect');
const COOKIE = indexOf('cookie');

const NO_BODY: Framing = { kind: 'length', bytes: 0 };
const CHUNKED: Framing = { kind: 'chunked' };

export const malformed = (status: number, detail: string): Malformed => ({ status, detail });
export const BAD_FIELD = malformed(400, 'A header line is not of the form Name: value.');
export const BAD_REQUEST_LINE = malformed(
  400,
  'The request line is not of the form METHOD /path HTTP/1.1.',
);
export const TARGET_TOO_LONG = malformed(
  414,
  `The path may have ${TARGET_LENGTH_MAX} characters at most.`,
);

export class HeadFields {
  /** The headers that are read, in lower case. Only the form of the others is checked. */
  readonly names: readonly string[];
  readonly #noValues: readonly null[];

  constructor(readNames: readonly string[]) {
    const other = readNames.find((name) => name !== name.toLowerCase());
    if (other !== undefined) throw new Error(`header ${other} is not in lower case`);
    this.names = [...new Set<string>([...OWN_NAMES, ...readNames])];
    this.#noValues = this.names.map(() => null);
  }

  /** For a head of which no line is read yet. */
  noValues(): FieldValues {
    return [...this.#noValues];
  }

  /** Adds a line of the header with this index. Null: it may stand there. */
  add(values: FieldValues, index: number, value: string): Malformed | null {
    const name = this.names[index] ?? '';
    const before = values[index] ?? null;
    // Two readers may disagree whether an empty value counts as absent.
    if (value === '' && FRAMING.has(name)) return BAD_FIELD;
    if (before === null) values[index] = value;
    else if (!LISTS.has(name)) return malformed(400, `The header ${name} occurs more than once.`);
    // Cookies may have commas in them (RFC 6265, 4.2.1; RFC 9113, 8.2.3).
    else values[index] = `${before}${index === COOKIE ? '; ' : ', '}${value}`;
    return null;
  }

  /** The head, once all of its lines are read. `target`: path and query. */
  assemble(method: string, target: string, values: FieldValues): ParsedHead | Malformed {
    const at = (index: number): string => values[index] ?? '';
    if (at(HOST_INDEX) === '') return malformed(400, 'The header Host is missing.');
    if (!HOST.test(at(HOST_INDEX))) return malformed(400, 'The header Host is not a host.');
    const framing = framingOf(at(CONTENT_LENGTH), at(TRANSFER_ENCODING).toLowerCase());
    if ('status' in framing) return framing;
    const expect = at(EXPECT).toLowerCase();
    if (expect !== '' && expect !== '100-continue') {
      return malformed(417, 'The header Expect may only be 100-continue.');
    }
    const question = target.indexOf('?');
    return {
      kind: 'head',
      method,
      path: question < 0 ? target : target.slice(0, question),
      query: question < 0 ? '' : target.slice(question + 1),
      headers: new RequestHeaders(this.names, values),
      framing,
      closes: hasClose(at(CONNECTION)),
      expectsContinue: expect !== '',
    };
  }
}

function framingOf(length: string, coding: string): Framing | Malformed {
  if (coding !== '') {
    if (length !== '') {
      return malformed(400, 'Content-Length and Transfer-Encoding exclude each other.');
    }
    return coding === 'chunked'
      ? CHUNKED
      : malformed(501, 'The only Transfer-Encoding that this service takes is chunked.');
  }
  if (length === '') return NO_BODY;
  return DIGITS.test(length)
    ? { kind: 'length', bytes: Number(length) }
    : malformed(400, 'The header Content-Length is not a number of bytes.');
}

const hasClose = (connection: string): boolean =>
  connection !== '' &&
  connection
    .toLowerCase()
    .split(',')
    .some((option) => option.trim() === 'close');
