/** Puts a provider credential whose form is right, and asks the provider; or takes it away. */

import type { Secrets } from '../access/secrets.ts';
import { recordChange } from '../audit/record-change.ts';
import { findAppName } from '../clients/find-app.ts';
import type { Sql, SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { AuditOrigin } from '../domain/audit.ts';
import type { Scope } from '../domain/device.ts';
import type { ProviderCredential } from '../providers/providers.ts';
import type { CheckResult } from './credential-check.ts';
import type { Check } from './provider-check.ts';
import type { PutTerms } from './provider-credentials.ts';
import { writeProviderCredential } from './provider-credentials.ts';
import { readSealedCredential } from './sql/provider-credential.ts';

export interface PutParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
  readonly check: Check;
}

/**
 * Null: the app is not on this platform. It is stored even if the provider refuses it: the provider
 * may be down, or know the key in a minute.
 */
export async function putCredential(
  { sql, secrets, check }: PutParts,
  origin: AuditOrigin,
  { appId, platformId }: Scope,
  credential: ProviderCredential,
  terms: PutTerms,
): Promise<CheckResult | null> {
  const isThere = await transact(sql, async (tx) => {
    const isOn = await writeProviderCredential(tx, secrets, appId, platformId, credential, terms);
    if (isOn) await record(tx, origin, { appId, platformId }, 'put');
    return isOn;
  });
  return isThere ? await check({ appId, platformId }) : null;
}

/** With the one before it. False: the app is not on this platform. */
export const removeCredential = (
  { sql, secrets }: Pick<PutParts, 'sql' | 'secrets'>,
  origin: AuditOrigin,
  { appId, platformId }: Scope,
): Promise<boolean> =>
  transact(sql, async (tx) => {
    const stored = await readSealedCredential(tx, appId, platformId);
    const isThere = stored !== undefined && typeof stored !== 'number';
    const isOn = await writeProviderCredential(tx, secrets, appId, platformId, null);
    if (isOn && isThere) await record(tx, origin, { appId, platformId }, 'delete');
    return isOn;
  });

async function record(
  tx: Sql,
  origin: AuditOrigin,
  { appId, platformId }: Scope,
  what: 'put' | 'delete',
): Promise<void> {
  const name = await findAppName(tx, origin.clientId, appId);
  const id = `${appId}/${platformId}`;
  await recordChange(tx, origin, { action: `provider-credential.${what}`, id, name });
}
