/**
 * Credentials of the providers: checked when they are put, sealed at rest, opened for the senders
 * only. An address in them is compared with the operator's and never called (spec/interface.md,
 * section 5).
 */

import type { Secrets } from '../access/secrets.ts';
import type { ProviderCredential } from '../domain/credential.ts';
import { isPlatformId } from '../domain/device.ts';
import type { ParsedCredential } from '../providers/credential-form.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import { PROVIDERS, providerOf } from '../providers/providers.ts';
import type { Predecessor, SealedCredential } from '../store/apps/provider-credential.ts';
import { readSealedCredential, writeSealedCredential } from '../store/apps/provider-credential.ts';
import type { Sql } from '../store/sql.ts';

export type OpenedCredential =
  | { readonly kind: 'opened'; readonly credential: ProviderCredential }
  | { readonly kind: 'none' }
  | { readonly kind: 'not-on-platform' }
  /** Sealed under another SECRET_KEY, or damaged. */
  | { readonly kind: 'unreadable'; readonly keyId: string };

/** Checks what a tenant gave as the credential of one platform. `origins` are the operator's. */
export const parseProviderCredential = (
  platformId: number,
  input: unknown,
  origins: ProviderOrigins,
): ParsedCredential<ProviderCredential> =>
  isPlatformId(platformId)
    ? PROVIDERS[platformId].parseCredential(input, origins)
    : { ok: false, faults: [`platform ${platformId} takes no credential.`] };

/** How a put treats what was there, and what is known of the new one's end. */
export interface PutTerms {
  /** The one before it stays as the fallback for so long, if it is of the same account. */
  readonly graceHours: number;
  /** When the key ends, where the operator knows it. */
  readonly expiresAtMs: number | null;
}

/** Long enough that somebody looks, and no longer than a lost key should work. */
export const PROVIDER_GRACE_HOURS = 72;
const DEFAULT_TERMS: PutTerms = { graceHours: PROVIDER_GRACE_HOURS, expiresAtMs: null };
/** Somebody else puts one at the same moment: that many times in a row is a fault of ours. */
const TRIES_MAX = 5;

/**
 * Seals and stores it; null clears it, and the one before it too. Answers whether the app is on
 * this platform.
 */
export async function writeProviderCredential(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
  credential: ProviderCredential | null,
  terms: PutTerms = DEFAULT_TERMS,
): Promise<boolean> {
  const sealed =
    credential === null
      ? null
      : {
          sealed: secrets.seal(JSON.stringify(credential), providerIdentityOf(appId, platformId)),
          keyId: secrets.keyId,
        };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const stored = await readSealedCredential(sql, appId, platformId);
    if (stored === undefined) return false;
    const isThere = typeof stored !== 'number';
    const known = isThere ? openCredential(secrets, stored, appId, platformId) : null;
    const isWritten = await writeSealedCredential(sql, appId, platformId, {
      ...terms,
      credential: sealed,
      overVersion: isThere ? stored.version : stored,
      predecessor: predecessorOf(known, credential),
    });
    if (isWritten) return true;
  }
  throw new Error('a credential was put again and again at the same time');
}

/**
 * Only what sends to the same devices can stand in: another team or project would refuse them all.
 */
function predecessorOf(
  known: ProviderCredential | null,
  credential: ProviderCredential | null,
): Predecessor {
  if (known === null || credential === null) return 'forgotten';
  if (JSON.stringify(known) === JSON.stringify(credential)) return 'unchanged';
  const account = providerOf(credential).accountOf(credential);
  const knownAccount = providerOf(known).accountOf(known);
  return account !== null && knownAccount === account ? 'kept' : 'forgotten';
}

/** Opens the one that was put last. */
export async function readProviderCredential(
  sql: Sql,
  secrets: Secrets,
  appId: number,
  platformId: number,
): Promise<OpenedCredential> {
  const stored = await readSealedCredential(sql, appId, platformId);
  if (stored === undefined) return { kind: 'not-on-platform' };
  if (typeof stored === 'number') return { kind: 'none' };
  const credential = openCredential(secrets, stored, appId, platformId);
  return credential === null
    ? { kind: 'unreadable', keyId: stored.keyId }
    : { kind: 'opened', credential };
}

/** Null: sealed under another SECRET_KEY, or damaged. */
export function openCredential(
  secrets: Secrets,
  { sealed, keyId }: SealedCredential,
  appId: number,
  platformId: number,
): ProviderCredential | null {
  const opened = secrets.open(sealed, keyId, providerIdentityOf(appId, platformId));
  // Only writeProviderCredential writes there, and the authentication tag says that nobody else
  // did.
  return opened.kind === 'opened' ? (JSON.parse(opened.plain) as ProviderCredential) : null;
}

/** What a sealed credential is bound to. */
export const providerIdentityOf = (appId: number, platformId: number): string =>
  `provider:${appId}:${platformId}`;
