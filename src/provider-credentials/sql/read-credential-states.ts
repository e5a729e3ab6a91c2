/** Reads the state of provider credentials, without the secrets, for metrics and operators. */

import type { Sql } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';

export interface CredentialState extends Scope {
  readonly hasCredential: boolean;
  readonly updatedAtMs: number | null;
  readonly expiresAtMs: number | null;
  /** Until then the credential before it may be used. */
  readonly fallbackUntilMs: number | null;
  /** Null: the provider has not refused the new one. While the fallback lasts, it is in use. */
  readonly refusedReason: string | null;
  readonly acceptedAtMs: number | null;
  readonly fault: string | null;
  readonly faultAtMs: number | null;
  readonly checkedAtMs: number | null;
  readonly isHealthy: boolean | null;
  readonly checkNote: string | null;
  /** Since when sends or checks fail; null: the last one worked, or there was none. */
  readonly refusedSinceMs: number | null;
}

/** Reads those of one app, or with null of all; sorted, at most `limit`. */
export const readCredentialStates = (
  sql: Sql,
  appId: number | null,
  limit: number,
): Promise<readonly CredentialState[]> => sql<CredentialState[]>`
  select ${credentialColumns(sql)}
  from app_platforms p left join credential_health h using (app_id, platform_id)
  where (${appId}::integer is null or p.app_id = ${appId}::integer)
  order by p.app_id, p.platform_id
  limit ${limit}`;

/** The columns of CredentialState, from `app_platforms p` and `credential_health h`. */
export const credentialColumns = (sql: Sql) => sql`
  p.app_id as "appId", p.platform_id as "platformId",
    credential_sealed is not null as "hasCredential",
    (extract(epoch from credential_updated_at) * 1000)::float8 as "updatedAtMs",
    floor(extract(epoch from credential_expires_at) * 1000)::float8 as "expiresAtMs",
    (extract(epoch from case when previous_until > now() then previous_until end) * 1000)::float8 as "fallbackUntilMs",
    refused_reason as "refusedReason",
    (extract(epoch from accepted_at) * 1000)::float8 as "acceptedAtMs",
    fault, (extract(epoch from fault_at) * 1000)::float8 as "faultAtMs",
    (extract(epoch from least(checked_at, now())) * 1000)::float8 as "checkedAtMs",
    check_ok as "isHealthy", check_note as "checkNote",
    (extract(epoch from h.refused_since) * 1000)::float8 as "refusedSinceMs"`;
