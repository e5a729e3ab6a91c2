/** Reads, writes and refuses the sealed credential of an (app, platform) and the one before it. */

import type { Sql } from '../../database/sql.ts';
import { recordTroubles } from '../../webhooks/record-events.ts';

export interface SealedCredential {
  readonly sealed: Buffer;
  readonly keyId: string;
}

export interface StoredCredential extends SealedCredential {
  /** Raised by every put. */
  readonly version: number;
  /** The credential before it, while it may still be used. */
  readonly previous: SealedCredential | null;
  /** The provider has refused this: the one before it is used, while it may be. */
  readonly isRefused: boolean;
  /** Sends with it were accepted within the last minutes. */
  readonly wasAcceptedLately: boolean;
}

/** The time for which a worker remembers it (push/worker/circuit-breaker.ts). */
const ACCEPTED_LATELY_MINUTES = 10;
/**
 * Acceptances are written within a minute: what comes soon after a put may be of the one before.
 */
const NOTED_WITHIN_MINUTES = 2;

interface Row {
  readonly sealed: Buffer | null;
  readonly keyId: string | null;
  readonly version: number;
  readonly previousSealed: Buffer | null;
  readonly previousKeyId: string | null;
  readonly isRefused: boolean;
  readonly wasAcceptedLately: boolean;
}

/** Undefined: the app is not on this platform. A number: the version, without a credential. */
export async function readSealedCredential(
  sql: Sql,
  appId: number,
  platformId: number,
): Promise<StoredCredential | number | undefined> {
  const [row] = await sql<Row[]>`
    select credential_sealed as sealed, credential_key_id as "keyId", credential_version as version,
      case when previous_until > now() then previous_sealed end as "previousSealed",
      previous_key_id as "previousKeyId", refused_reason is not null as "isRefused",
      coalesce(
        accepted_at between now() - make_interval(mins => ${ACCEPTED_LATELY_MINUTES}::integer) and now()
        and accepted_at > credential_updated_at + make_interval(mins => ${NOTED_WITHIN_MINUTES}::integer),
        false
      ) as "wasAcceptedLately"
    from app_platforms left join credential_health using (app_id, platform_id)
    where app_id = ${appId} and platform_id = ${platformId}`;
  if (row === undefined) return undefined;
  const { sealed, keyId, version, previousSealed, previousKeyId, isRefused, wasAcceptedLately } =
    row;
  if (sealed === null || keyId === null) return version;
  const previous =
    previousSealed === null || previousKeyId === null
      ? null
      : { sealed: previousSealed, keyId: previousKeyId };
  return { sealed, keyId, version, previous, isRefused, wasAcceptedLately };
}

/**
 * A write keeps the credential before as the fallback, forgets it, or puts the same again. A
 * refused credential never becomes the fallback: the one in use stays.
 */
export type Predecessor = 'kept' | 'forgotten' | 'unchanged';

interface CredentialToWrite {
  readonly credential: SealedCredential | null;
  /** The version that the caller read: the write fails when another was put meanwhile. */
  readonly overVersion: number;
  readonly predecessor: Predecessor;
  readonly graceHours: number;
  readonly expiresAtMs: number | null;
}

/** False: the stored version is no longer the one that the caller has read. */
export async function writeSealedCredential(
  sql: Sql,
  appId: number,
  platformId: number,
  { credential, overVersion, predecessor, graceHours, expiresAtMs }: CredentialToWrite,
): Promise<boolean> {
  const isStandInUsed = sql`refused_reason is not null and previous_until > now()`;
  const rows = await sql`
    with written as (
    update app_platforms set
      previous_sealed = case ${predecessor}::text
        when 'kept' then case when ${isStandInUsed} then previous_sealed else credential_sealed end when 'unchanged' then previous_sealed end,
      previous_key_id = case ${predecessor}::text
        when 'kept' then case when ${isStandInUsed} then previous_key_id else credential_key_id end when 'unchanged' then previous_key_id end,
      previous_until = case ${predecessor}::text
        when 'kept' then now() + make_interval(hours => ${graceHours}::integer)
        when 'unchanged' then previous_until end,
      credential_sealed = ${credential?.sealed ?? null},
      credential_key_id = ${credential?.keyId ?? null},
      credential_expires_at = to_timestamp(${expiresAtMs}::float8 / 1000),
      credential_version = credential_version + 1,
      credential_updated_at = now(),
      refused_reason = null, refused_at = null
    where app_id = ${appId} and platform_id = ${platformId} and credential_version = ${overVersion}
    returning app_id, platform_id
    ),
    -- The provider has said nothing of the new one.
    cleared as (
      update credential_health h set refused_since = null from written w
      where h.app_id = w.app_id and h.platform_id = w.platform_id
    )
    select from written`;
  return rows.length > 0;
}

/**
 * Notes that the provider refuses this version: from now on the one before it is used. False:
 * another version is stored, the refusal is known already, or the one before it has lapsed.
 */
export async function refuseCredential(
  sql: Sql,
  appId: number,
  platformId: number,
  refused: { readonly version: number; readonly reason: string },
): Promise<boolean> {
  const rows = await sql`
    with refused as (
      update app_platforms set refused_reason = ${refused.reason}, refused_at = now()
      where app_id = ${appId} and platform_id = ${platformId} and credential_version = ${refused.version}
        and refused_reason is null and previous_until > now()
      returning app_id, platform_id, refused_reason as note, previous_until as expires_at
    ),
    told as (
      ${recordTroubles(sql, 'fallback-used', sql`refused`)}
    )
    select from refused`;
  return rows.length > 0;
}

/** Notes that the provider accepts this version after all: it is used again. */
export async function acceptCredential(
  sql: Sql,
  appId: number,
  platformId: number,
  version: number,
): Promise<void> {
  await sql`
    update app_platforms set refused_reason = null, refused_at = null
    where app_id = ${appId} and platform_id = ${platformId} and credential_version = ${version}
      and refused_reason is not null`;
}
