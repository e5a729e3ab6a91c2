/** The id of a request in logs and answers: the caller's own where it is usable, else a new one. */

import { randomBytes } from 'node:crypto';

/**
 * So that it can go into headers and log lines as it is.
 * @limit a request id that is taken over: 128 printable ASCII characters → one is made
 */
const SANE = /^[\x20-\x7e]{1,128}$/;

/** `randomUUID` joins twenty strings, a twentieth of what a registration allocates. */
const IDS_AT_ONCE = 128;
const ID_BYTES = 16;
const ID_LENGTH = 2 * ID_BYTES;
let digits = '';
let used = 0;

export const requestIdOf = (given: string): string => (SANE.test(given) ? given : newId());

function newId(): string {
  if (used === digits.length) {
    digits = randomBytes(IDS_AT_ONCE * ID_BYTES).toString('hex');
    used = 0;
  }
  used += ID_LENGTH;
  return digits.slice(used - ID_LENGTH, used);
}
