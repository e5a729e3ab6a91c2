/** Further keys of a client: named, with scopes and limits, shown once, deleted at will. */

import { randomSecret, randomSuffix } from '../access/random-text.ts';
import type { Secrets } from '../access/secrets.ts';
import { lockClient } from '../clients/lock-client.ts';
import type { Sql } from '../database/sql.ts';
import type { KeyRights } from '../domain/caller.ts';
import type { OverLimit } from '../domain/client-limits.ts';
import { overLimit } from '../domain/client-limits.ts';
import { insertKey } from './sql/insert-key.ts';
import { countKeys } from './sql/list-keys.ts';

const KEY_PREFIX = 'tck_';
/** Distinguishes the keys of one client, and is never used again: a key's jobs are found by it. */
const USERNAME_SUFFIX_CHARACTERS = 12;

export interface KeyToMake extends Omit<KeyRights, 'id'> {
  readonly clientId: number;
  readonly clientSlug: string;
  readonly name: string;
  readonly expiresAtMs: number | null;
}

interface MadeKey {
  readonly id: number;
  readonly userName: string;
  /** In clear text, only this once. */
  readonly token: string;
}

/** Makes and stores a key, or says that the client has as many as it may. */
export async function createKey(
  tx: Sql,
  secrets: Secrets,
  { clientSlug, ...key }: KeyToMake,
): Promise<MadeKey | { readonly over: OverLimit }> {
  const token = KEY_PREFIX + randomSecret();
  const userName = `${clientSlug}-key-${randomSuffix(USERNAME_SUFFIX_CHARACTERS)}`;
  const limits = await lockClient(tx, key.clientId);
  const over = overLimit(limits, 'keys', await countKeys(tx, key.clientId));
  if (over !== null) return { over };
  const id = await insertKey(tx, {
    ...key,
    username: userName,
    tokenHash: secrets.lookupHash(token),
    tokenSealed: secrets.seal(token, keyIdentityOf(userName)),
    keyId: secrets.keyId,
  });
  return { id, userName, token };
}

/** The identity that a sealed token is bound to. */
export const keyIdentityOf = (userName: string): string => `client-key:${userName}`;
