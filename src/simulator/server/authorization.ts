/** Reads the token of an authorization field of the scheme that both providers want. */

import type { ConnectionMemory } from './connection-memory.ts';

const BEARER = /^bearer +/i;

/** The token after `bearer`; undefined when the scheme is another one or there is no field. */
export function bearerTokenOf(
  value: string | undefined,
  connection: ConnectionMemory,
): string | undefined {
  if (value === undefined) return undefined;
  // A connection says the same for an hour: its token is cut out once, and looked up as one and the
  // same string.
  const last = connection.authorization;
  if (last?.value === value) return last.token;
  const token = BEARER.test(value) ? value.replace(BEARER, '') : undefined;
  connection.authorization = { value, token };
  return token;
}
