/** Makes a further key of a client, with some rights and no other limits. */

import type { SqlPool } from '../../src/database/sql.ts';
import type { KeyRights } from '../../src/domain/caller.ts';
import { createKey } from '../../src/keys/keys.ts';
import type { Tenant } from './api.ts';
import { secrets } from './api.ts';

/** Answers its token. */
export async function makeKey(
  sql: SqlPool,
  { clientId, slug }: Tenant,
  rights: Partial<KeyRights> & Pick<KeyRights, 'scopes'>,
): Promise<string> {
  const noLimits = { tagIds: null, groupIds: null, appIds: null, maxDevices: null };
  const owner = { clientId, clientSlug: slug, name: 'Key', expiresAtMs: null };
  const made = await createKey(sql, secrets, { ...noLimits, ...rights, ...owner });
  if ('over' in made) throw new Error('too many keys');
  return made.token;
}
