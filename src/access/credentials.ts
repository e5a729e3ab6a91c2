/**
 * Credentials of the APIs: made by the system, shown again on demand, rotated with a grace period.
 */

import { lockClient } from '../clients/lock-client.ts';
import type { Sql } from '../database/sql.ts';
import { randomSecret, randomSuffix } from './random-text.ts';
import type { Secrets } from './secrets.ts';
import { expireCredentials } from './sql/expire-credentials.ts';
import { foreignKeyIds } from './sql/foreign-key-ids.ts';
import { insertCredential } from './sql/insert-credential.ts';
import type { SealedSecrets } from './sql/read-credential.ts';
import { readCredential } from './sql/read-credential.ts';

export interface CredentialOwner {
  readonly clientId: number;
  readonly clientSlug: string;
  readonly appId: number | null;
}

/** In clear text: shown to its owner and written nowhere. */
export interface ShownCredential {
  readonly username: string;
  readonly password: string;
  readonly token: string;
}

type RevealResult =
  | { readonly kind: 'revealed'; readonly credential: ShownCredential }
  | { readonly kind: 'none' }
  /** It cannot be read with the SECRET_KEY in use. */
  | { readonly kind: 'unreadable'; readonly keyId: string };

/**
 * Longest grace of a rotation (internals/interface.md, "Callers"): 7 days.
 * @limit hours of grace of a rotation → `400`; the command refuses
 */
export const GRACE_HOURS_MAX = 168;

/** Prefixes show what a token is when it is found in a log or a repository. */
const SUPER_USER_PREFIX = 'tcs_';
const API_USER_PREFIX = 'tca_';
/** Only distinguishes the credentials of one owner; it is not secret. */
const USERNAME_SUFFIX_CHARACTERS = 8;

export async function createCredential(
  sql: Sql,
  secrets: Secrets,
  owner: CredentialOwner,
): Promise<ShownCredential> {
  const role = owner.appId === null ? 'super' : `app-${owner.appId}`;
  const credential: ShownCredential = {
    username: `${owner.clientSlug}-${role}-${randomSuffix(USERNAME_SUFFIX_CHARACTERS)}`,
    password: randomSecret(),
    token: (owner.appId === null ? SUPER_USER_PREFIX : API_USER_PREFIX) + randomSecret(),
  };
  const { username, password, token } = credential;
  await insertCredential(sql, {
    clientId: owner.clientId,
    appId: owner.appId,
    username,
    tokenHash: secrets.lookupHash(token),
    tokenSealed: secrets.seal(token, identityOf(username, 'token')),
    passwordHash: secrets.lookupHash(password),
    passwordSealed: secrets.seal(password, identityOf(username, 'password')),
    keyId: secrets.keyId,
  });
  return credential;
}

export async function revealCredential(
  sql: Sql,
  secrets: Secrets,
  owner: Pick<CredentialOwner, 'clientId' | 'appId'>,
): Promise<RevealResult> {
  const row = await readCredential(sql, owner.clientId, owner.appId);
  return row === null ? { kind: 'none' } : openCredential(secrets, row);
}

export function openCredential(
  secrets: Secrets,
  row: SealedSecrets,
): Exclude<RevealResult, { readonly kind: 'none' }> {
  const { username, keyId } = row;
  const token = secrets.open(row.tokenSealed, keyId, identityOf(username, 'token'));
  const password = secrets.open(row.passwordSealed, keyId, identityOf(username, 'password'));
  return token.kind === 'opened' && password.kind === 'opened'
    ? {
        kind: 'revealed',
        credential: { username, password: password.plain, token: token.plain },
      }
    : { kind: 'unreadable', keyId };
}

/** Makes a new credential; previous ones work for `graceHours` (0–168) more. */
export async function rotateCredential(
  tx: Sql,
  secrets: Secrets,
  owner: CredentialOwner,
  graceHours: number,
): Promise<ShownCredential> {
  if (!Number.isInteger(graceHours) || graceHours < 0 || graceHours > GRACE_HOURS_MAX) {
    throw new RangeError(`graceHours must be 0–${GRACE_HOURS_MAX}, not ${graceHours}`);
  }
  await lockClient(tx, owner.clientId);
  await expireCredentials(tx, owner.clientId, owner.appId, graceHours);
  return createCredential(tx, secrets, owner);
}

/** The fault of SECRET_KEY here; null: it, or SECRET_KEY_OTHER, made every credential in force. */
export async function secretKeyFault(sql: Sql, secrets: Secrets): Promise<string | null> {
  const keyIds = await foreignKeyIds(sql, secrets.keyIds);
  return keyIds.length === 0
    ? null
    : `SECRET_KEY: this is key ${secrets.keyId}, but credentials in this database were encrypted with ${keyIds.join(', ')}: restore that key (without the variable it is in DATA_DIR/secret.key), or set it as SECRET_KEY_OTHER and run tagcast secret-key rotate.`;
}

/** The identity that a sealed secret is bound to: user names are unique and never change. */
export const identityOf = (username: string, secret: 'token' | 'password'): string =>
  `credential:${username}:${secret}`;
