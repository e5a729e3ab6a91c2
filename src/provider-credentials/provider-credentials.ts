/**
 * Provider credentials: checked when put, stored sealed, opened only for use. An address in them is
 * compared with the operator's, and is never called.
 */

import type { Secrets } from '../access/secrets.ts';
import type { Sql } from '../database/sql.ts';
import { isPlatformId } from '../domain/device.ts';
import type { ParsedCredential } from '../providers/credential-form.ts';
import type { ProviderOrigins } from '../providers/origins.ts';
import type { ProviderCredential } from '../providers/providers.ts';
import { PROVIDERS, providerOf } from '../providers/providers.ts';
import type { Predecessor, SealedCredential } from './sql/provider-credential.ts';
import { readSealedCredential, writeSealedCredential } from './sql/provider-credential.ts';

type OpenedCredential =
  | { readonly kind: 'opened'; readonly credential: ProviderCredential }
  | { readonly kind: 'none' }
  | { readonly kind: 'not-on-platform' }
  /** Sealed under another SECRET_KEY, or damaged. */
  | { readonly kind: 'unreadable'; readonly keyId: string };

/** Checks a client's input for the credential of one platform. `origins`: the operator's. */
export const parseProviderCredential = async (
  platformId: number,
  input: unknown,
  origins: ProviderOrigins,
): Promise<ParsedCredential<ProviderCredential>> =>
  isPlatformId(platformId)
    ? PROVIDERS[platformId].parseCredential(input, origins)
    : { ok: false, faults: [{ path: `platform ${platformId}`, message: 'takes no credential' }] };

export interface PutTerms {
  /** The credential before it stays the fallback for so long, if it is of the same account. */
  readonly graceHours: number;
  /** When the key expires. Null: the operator gave no time. */
  readonly expiresAtMs: number | null;
}

/**
 * Long enough for the operator to notice a fault, and no longer than a lost key should work.
 * @limit hours for which a provider credential that was replaced stands by, where `--grace-hours`
 * (0–168) names no others → the old one is forgotten
 */
export const PROVIDER_GRACE_HOURS = 72;
const DEFAULT_TERMS: PutTerms = { graceHours: PROVIDER_GRACE_HOURS, expiresAtMs: null };
/** Tries of a put that others overtake at the same moment. So many in a row are a bug. */
const TRIES_MAX = 5;

/** Seals and stores a credential; null clears it and the one before. Whether the app is there. */
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

/** Only one for the same devices can be a fallback: another project's sends would all fail. */
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

/** Opens a sealed credential. Null: it was sealed under another SECRET_KEY, or is damaged. */
export function openCredential(
  secrets: Secrets,
  { sealed, keyId }: SealedCredential,
  appId: number,
  platformId: number,
): ProviderCredential | null {
  const opened = secrets.open(sealed, keyId, providerIdentityOf(appId, platformId));
  // writeProviderCredential wrote it, and the authentication tag proves that it is unchanged.
  return opened.kind === 'opened' ? (JSON.parse(opened.plain) as ProviderCredential) : null;
}

/** The identity that a sealed credential is bound to. */
export const providerIdentityOf = (appId: number, platformId: number): string =>
  `provider:${appId}:${platformId}`;
