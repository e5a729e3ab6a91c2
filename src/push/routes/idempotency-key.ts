/**
 * The idempotency key of a push, as its publisher's own, so that no publisher learns of another's
 * push. The super user has the same ones after a rotation.
 */

import type { Caller } from '../../domain/caller.ts';

/** No header can hold it, so no publisher can write another one's key. */
const SEPARATOR = '\n';

/** The super user's keys are stored as they were sent: nodes of the version before know them. */
export function idempotencyKeyOf({ account, key }: Caller, sent: string): string {
  if (account !== undefined) return `account ${account.id}${SEPARATOR}${sent}`;
  return key === undefined ? sent : `key ${key.id}${SEPARATOR}${sent}`;
}
