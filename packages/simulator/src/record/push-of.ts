/**
 * Finds the push of a message. The engine writes its id into each message, so that a device that
 * one push reached twice differs from one that two pushes reached.
 */

import { NO_PUSH } from './token-notes.ts';

const MARK = Buffer.from('"pushId":"');
const QUOTE = 0x22;
/** A UUID has 36; longer ids are compared by their beginning. */
const ID_BYTES_MAX = 64;

/**
 * A number for the push, the same for each of its messages and never 0; NO_PUSH when the message
 * names none, or cannot be read.
 */
export function pushOf(body: Buffer): number {
  const mark = body.indexOf(MARK);
  if (mark < 0) return NO_PUSH;
  const start = mark + MARK.length;
  let hash = 0;
  for (let index = start; index < start + ID_BYTES_MAX; index += 1) {
    const octet = body[index] ?? QUOTE;
    if (octet === QUOTE) break;
    hash = Math.imul(hash ^ octet, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash === 0 ? NO_PUSH : hash;
}
