/** Reads the token of an authorization field, in the scheme of both providers. */

import type { ConnectionMemory } from './connection-memory.ts';

const BEARER = /^bearer +/i;

/** The token after `bearer`; undefined when the scheme is different or the field is missing. */
export function bearerTokenOf(
  value: string | undefined,
  connection: ConnectionMemory,
): string | undefined {
  if (value === undefined) return undefined;
  // A connection sends the same field for an hour. Its token is cut out once, and always looked up
  // as the same string.
  const last = connection.authorization;
  if (last?.value === value) return last.token;
  const token = BEARER.test(value) ? value.replace(BEARER, '') : undefined;
  connection.authorization = { value, token };
  return token;
}
