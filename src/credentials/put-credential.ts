/**
 * Puts a provider credential whose form is right: seals and stores it, and asks the provider. For
 * operators and for clients.
 */

import type { Secrets } from '../access/secrets.ts';
import type { ProviderCredential } from '../domain/credential.ts';
import type { Scope } from '../domain/device.ts';
import type { Sql } from '../store/sql.ts';
import type { CheckResult } from './credential-check.ts';
import type { Check } from './provider-check.ts';
import type { PutTerms } from './provider-credentials.ts';
import { writeProviderCredential } from './provider-credentials.ts';

export interface PutParts {
  readonly sql: Sql;
  readonly secrets: Secrets;
  readonly check: Check;
}

/**
 * Null: the app is not on this platform. It is stored even if the provider refuses it: the provider
 * may be down, or know the key in a minute.
 */
export async function putCredential(
  { sql, secrets, check }: PutParts,
  { appId, platformId }: Scope,
  credential: ProviderCredential,
  terms: PutTerms,
): Promise<CheckResult | null> {
  const isThere = await writeProviderCredential(sql, secrets, appId, platformId, credential, terms);
  return isThere ? await check({ appId, platformId }) : null;
}
