/**
 * A message that FCM would take, as a form in which the token may be exchanged. The messages of one
 * notification differ in that alone, and to compare bytes is cheaper than to parse and check them.
 */

import type { JsonObject } from './json.ts';

export interface FcmTemplate {
  /** Everything from the quote that ends the token. */
  readonly tail: Buffer;
  readonly validateOnly: boolean;
}

/** How a body begins that has a template: behind it comes the token. */
const HEAD = Buffer.from('{"message":{"token":"');

const QUOTE = '"'.charCodeAt(0);

/**
 * 1 for each byte that stands for itself in a JSON string and may stand in a token: visible ASCII but the
 * quote and the backslash. A table, because tokens are random and a comparison would be guessed wrong.
 */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte > 0x20 && byte < 0x7f && byte !== QUOTE && byte !== 0x5c ? 1 : 0,
);

/** The template of a valid message; undefined when its token cannot be exchanged without another look. */
export function templateOf(
  body: Buffer,
  parsed: JsonObject,
  validateOnly: boolean,
): FcmTemplate | undefined {
  if (!isAt(body, 0, HEAD)) return undefined;
  const tokenEnd = body.indexOf(QUOTE, HEAD.length);
  if (!isPlain(body, HEAD.length, tokenEnd)) return undefined;
  // Of a name that comes twice the parser takes the last, and then this token is not the one that counts.
  // What is written again to the letter has no name twice.
  if (JSON.stringify(parsed) !== body.toString()) return undefined;
  return { tail: Buffer.from(body.subarray(tokenEnd)), validateOnly };
}

/** The token of a body that is the template's but for it; undefined for any other body. */
export function tokenIn(body: Buffer, { tail }: FcmTemplate): string | undefined {
  const tokenEnd = body.length - tail.length;
  if (tokenEnd <= HEAD.length) return undefined;
  if (!isAt(body, 0, HEAD) || !isAt(body, tokenEnd, tail)) return undefined;
  return isPlain(body, HEAD.length, tokenEnd)
    ? body.toString('latin1', HEAD.length, tokenEnd)
    : undefined;
}

function isAt(body: Buffer, place: number, part: Buffer): boolean {
  const end = place + part.length;
  return end <= body.length && body.compare(part, 0, part.length, place, end) === 0;
}

function isPlain(body: Buffer, start: number, end: number): boolean {
  let plain = 1;
  for (let index = start; index < end; index += 1) plain &= IS_PLAIN[body[index] ?? 0] ?? 0;
  return plain === 1;
}
