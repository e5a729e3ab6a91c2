/**
 * Rows sealed with another SECRET_KEY, some at a time, locked until they are written under ours.
 */

import type { Sql } from '../../database/sql.ts';

/**
 * A row is some hundred bytes, and a piece is one short transaction.
 * @limit rows brought under a new `SECRET_KEY` in one transaction (apps: with all their platforms)
 * → the next transaction
 */
const ROWS_MAX = 100;

interface CredentialSecrets {
  readonly id: number;
  readonly username: string;
  readonly tokenSealed: Buffer;
  readonly passwordSealed: Buffer;
  readonly keyId: string;
}

export const readCredentials = (tx: Sql, keyId: string, after: number) =>
  tx<CredentialSecrets[]>`
    select id, username, token_sealed as "tokenSealed", password_sealed as "passwordSealed", key_id as "keyId"
    from credentials where key_id <> ${keyId} and id > ${after} order by id limit ${ROWS_MAX} for update`;

export async function writeCredential(
  tx: Sql,
  row: CredentialSecrets & { readonly tokenHash: Buffer; readonly passwordHash: Buffer },
): Promise<void> {
  await tx`
    update credentials set token_sealed = ${row.tokenSealed}, password_sealed = ${row.passwordSealed},
      token_hash = ${row.tokenHash}, password_hash = ${row.passwordHash}, key_id = ${row.keyId}
    where id = ${row.id}`;
}

interface KeySecrets {
  readonly id: number;
  readonly username: string;
  readonly tokenSealed: Buffer;
  readonly keyId: string;
}

export const readKeys = (tx: Sql, keyId: string, after: number) =>
  tx<KeySecrets[]>`
    select id, username, token_sealed as "tokenSealed", key_id as "keyId"
    from client_keys where key_id <> ${keyId} and id > ${after} order by id limit ${ROWS_MAX} for update`;

export async function writeKey(
  tx: Sql,
  row: KeySecrets & { readonly tokenHash: Buffer },
): Promise<void> {
  await tx`
    update client_keys set token_sealed = ${row.tokenSealed}, token_hash = ${row.tokenHash}, key_id = ${row.keyId}
    where id = ${row.id}`;
}

interface PlatformSecrets {
  readonly appId: number;
  readonly platformId: number;
  readonly sealed: Buffer | null;
  readonly keyId: string | null;
  readonly previousSealed: Buffer | null;
  readonly previousKeyId: string | null;
}

/** `after`: the last app that is done. A piece has all platforms of its apps; these are few. */
export const readPlatforms = (tx: Sql, keyId: string, after: number) =>
  tx<PlatformSecrets[]>`
    select app_id as "appId", platform_id as "platformId", credential_sealed as sealed, credential_key_id as "keyId",
      previous_sealed as "previousSealed", previous_key_id as "previousKeyId"
    from app_platforms
    where (credential_key_id <> ${keyId} or previous_key_id <> ${keyId}) and app_id in (
      select distinct app_id from app_platforms
      where (credential_key_id <> ${keyId} or previous_key_id <> ${keyId}) and app_id > ${after}
      order by app_id limit ${ROWS_MAX}
    )
    order by app_id, platform_id for update`;

export async function writePlatform(tx: Sql, row: PlatformSecrets): Promise<void> {
  await tx`
    update app_platforms set credential_sealed = ${row.sealed}, credential_key_id = ${row.keyId},
      previous_sealed = ${row.previousSealed}, previous_key_id = ${row.previousKeyId}
    where app_id = ${row.appId} and platform_id = ${row.platformId}`;
}

interface WebhookSecrets {
  readonly id: number;
  readonly sealed: Buffer;
  readonly keyId: string;
  readonly previousSealed: Buffer | null;
  readonly previousKeyId: string | null;
}

export const readWebhookSecrets = (tx: Sql, keyId: string, after: number) =>
  tx<WebhookSecrets[]>`
    select id, secret_sealed as sealed, secret_key_id as "keyId",
      previous_sealed as "previousSealed", previous_key_id as "previousKeyId"
    from webhooks where (secret_key_id <> ${keyId} or previous_key_id <> ${keyId}) and id > ${after}
    order by id limit ${ROWS_MAX} for update`;

export async function writeWebhookSecrets(tx: Sql, row: WebhookSecrets): Promise<void> {
  await tx`
    update webhooks set secret_sealed = ${row.sealed}, secret_key_id = ${row.keyId},
      previous_sealed = ${row.previousSealed}, previous_key_id = ${row.previousKeyId}
    where id = ${row.id}`;
}

interface TokenSecret {
  readonly identity: string;
  readonly sealed: Buffer;
  readonly keyId: string;
}

export const readTokens = (tx: Sql, keyId: string, after: string) =>
  tx<TokenSecret[]>`
    select identity, value_sealed as sealed, value_key_id as "keyId" from provider_tokens
    where value_key_id <> ${keyId} and value_sealed is not null and identity > ${after}
    order by identity limit ${ROWS_MAX} for update`;

export async function writeSealedToken(tx: Sql, row: TokenSecret): Promise<void> {
  await tx`
    update provider_tokens set value_sealed = ${row.sealed}, value_key_id = ${row.keyId}
    where identity = ${row.identity}`;
}
