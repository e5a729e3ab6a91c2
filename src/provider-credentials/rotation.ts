/** Chooses the credential put last, or, when the provider refuses it, the one before. */

import type { Secrets } from '../access/secrets.ts';
import type { Sql } from '../database/sql.ts';
import type { Scope } from '../domain/device.ts';
import type { ProviderCredential } from '../providers/providers.ts';
import { openCredential } from './provider-credentials.ts';
import type { StoredCredential } from './sql/provider-credential.ts';
import { readSealedCredential, refuseCredential } from './sql/provider-credential.ts';

export interface OpenedInUse {
  readonly kind: 'opened';
  readonly credential: ProviderCredential;
  /** The version of the credential put last. */
  readonly version: number;
  /** Whether the credential before it may take its place. */
  readonly hasFallback: boolean;
  /** Whether this is the credential before: the provider has refused the new one. */
  readonly isFallback: boolean;
  /** The provider accepted it within the last minutes. */
  readonly wasAcceptedLately: boolean;
}

type CredentialInUse = { readonly kind: 'none' } | { readonly kind: 'unreadable' } | OpenedInUse;

export async function readCredentialInUse(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
): Promise<CredentialInUse> {
  const stored = await readSealedCredential(sql, appId, platformId);
  if (stored === undefined || typeof stored === 'number') return { kind: 'none' };
  const open = ({ sealed, keyId }: { readonly sealed: Buffer; readonly keyId: string }) =>
    openCredential(secrets, { sealed, keyId }, appId, platformId);
  const previous = stored.previous === null ? null : open(stored.previous);
  const current = stored.isRefused && previous !== null ? previous : open(stored);
  if (current === null) return { kind: 'unreadable' };
  return inUse(current, previous, stored);
}

const inUse = (
  credential: ProviderCredential,
  previous: ProviderCredential | null,
  { version, isRefused, wasAcceptedLately }: StoredCredential,
): CredentialInUse => ({
  kind: 'opened',
  credential,
  version,
  hasFallback: previous !== null && !isRefused,
  isFallback: previous !== null && isRefused,
  wasAcceptedLately: wasAcceptedLately && !isRefused,
});

/** Notes that the provider refuses this version. True: this is news; the one before is used. */
export const refuse = (sql: Sql, scope: Scope, version: number, reason: string): Promise<boolean> =>
  refuseCredential(sql, scope.appId, scope.platformId, { version, reason });

/** The credential put last, in use or not. Null: there is none, or it cannot be opened. */
export async function readLastPut(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
): Promise<{ readonly credential: ProviderCredential; readonly version: number } | null> {
  const stored = await readSealedCredential(sql, appId, platformId);
  if (stored === undefined || typeof stored === 'number') return null;
  const credential = openCredential(secrets, stored, appId, platformId);
  return credential === null ? null : { credential, version: stored.version };
}
