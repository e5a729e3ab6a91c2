/** The id of a request in logs and answers: the caller's own where it is usable, else a new one. */

import { randomUUID } from 'node:crypto';

/**
 * Printable ASCII, so that it can go into a header and a log line as it is; the length bounds both.
 */
const SANE = /^[\x20-\x7e]{1,128}$/;

export const requestIdOf = (given: string): string => (SANE.test(given) ? given : randomUUID());
