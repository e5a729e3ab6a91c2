/**
 * The idempotency key of a push: what its caller has sent, as that publisher's own. The super user
 * has the same ones after a rotation; a further key and an account have theirs, so that none of
 * them learns of another's push, or stands in its way.
 */

import type { Caller } from '../../domain/caller.ts';

/** No header can hold it, so no publisher can write another one's key. */
const SEPARATOR = '\n';

/**
 * The key as it is stored. The super user's are as they were sent: nodes of the version before know
 * them.
 */
export function idempotencyKeyOf({ account, key }: Caller, sent: string): string {
  if (account !== undefined) return `account ${account.id}${SEPARATOR}${sent}`;
  return key === undefined ? sent : `key ${key.id}${SEPARATOR}${sent}`;
}
