/** The health of each provider credential: when it last worked, and its last check. */

import { SCOPE } from '../../database/columns.ts';
import { boolean, rowsOf, text } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { Scope } from '../../domain/device.ts';
import { recordTroubles } from '../../webhooks/record-events.ts';

/** Results of sends since the last write. */
interface Use extends Scope {
  readonly wasAccepted: boolean;
  /** The fault that stopped a send; null: none did. */
  readonly fault: string | null;
}

export async function writeUses(sql: Sql, uses: readonly Use[]): Promise<void> {
  if (uses.length === 0) return;
  await sql`
    with used as materialized (select * from ${used(sql, uses)}),
    told as (
      ${recordTroubles(sql, 'send-stopped', newFaults(sql))}
    )
    insert into credential_health as h (app_id, platform_id, accepted_at, fault, fault_at, refused_since)
    select app_id, platform_id, case when was_accepted then now() end, fault,
      case when fault is not null then now() end, case when fault is not null then now() end
    from used
    order by app_id, platform_id
    on conflict (app_id, platform_id) do update set
      accepted_at = coalesce(excluded.accepted_at, h.accepted_at),
      fault = coalesce(excluded.fault, h.fault),
      fault_at = coalesce(excluded.fault_at, h.fault_at),
      refused_since = case when excluded.fault is not null then coalesce(h.refused_since, now()) end`;
}

/** Those that are not known, or that have come back: after sends that worked, or after a day. */
const newFaults = (sql: Sql) => sql`(
  select u.app_id, u.platform_id, u.fault as note, null::timestamptz as expires_at
  from used u left join credential_health h using (app_id, platform_id)
  where u.fault is not null and (
    h.fault is distinct from u.fault or h.accepted_at > h.fault_at or h.fault_at < now() - interval '1 day'
  )
)`;

const used = rowsOf<Use>('uses', {
  ...SCOPE,
  was_accepted: boolean(({ wasAccepted }) => wasAccepted),
  fault: text(({ fault }) => fault),
});

/** `isHealthy` null: the provider could not be asked. */
export async function writeCheck(
  sql: Sql,
  { appId, platformId }: Scope,
  { isHealthy, note }: { readonly isHealthy: boolean | null; readonly note: string },
): Promise<void> {
  await sql`
    with told as (
      ${recordTroubles(
        sql,
        'check-failed',
        sql`(
          select c.app_id, c.platform_id, ${note}::text as note, null::timestamptz as expires_at
          from (select ${appId}::integer as app_id, ${platformId}::smallint as platform_id) c
          left join credential_health h using (app_id, platform_id)
          where not ${isHealthy}::boolean
            and (h.check_ok is distinct from false or h.check_note is distinct from ${note}::text)
        )`,
      )}
    )
    insert into credential_health as h (app_id, platform_id, checked_at, check_ok, check_note, refused_since)
    values (${appId}, ${platformId}, now(), ${isHealthy}, ${note}, case when not ${isHealthy}::boolean then now() end)
    on conflict (app_id, platform_id) do update set
      checked_at = now(), check_ok = excluded.check_ok, check_note = excluded.check_note,
      refused_since = case
        when excluded.check_ok then null
        when excluded.check_ok is null then h.refused_since
        else coalesce(h.refused_since, now())
      end`;
}

/**
 * Takes credentials last checked `everyMs` ago for this node: sets the time of their check, plus a
 * random part of an hour, so that they do not all fall due together.
 */
export const takeDueChecks = (
  sql: Sql,
  terms: {
    readonly platformIds: readonly number[];
    readonly everyMs: number;
    readonly limit: number;
  },
): Promise<readonly Scope[]> => sql<Scope[]>`
  with due as (
    select p.app_id, p.platform_id
    from app_platforms p left join credential_health h using (app_id, platform_id)
    where p.credential_sealed is not null and p.platform_id = any (${list(terms.platformIds)}::smallint[])
      and (h.checked_at is null or h.checked_at < now() - make_interval(secs => ${terms.everyMs}::float8 / 1000))
    order by h.checked_at nulls first
    limit ${terms.limit}
  )
  insert into credential_health as h (app_id, platform_id, checked_at)
  select app_id, platform_id, now() + random() * interval '1 hour' from due
  on conflict (app_id, platform_id) do update set checked_at = excluded.checked_at
  where h.checked_at is null or h.checked_at < now() - make_interval(secs => ${terms.everyMs}::float8 / 1000)
  returning app_id as "appId", platform_id as "platformId"`;

interface ExpiryWarning extends Scope {
  readonly expiresInMs: number;
}

/** Takes credentials that end within `days`, once: unless a node has warned at this distance. */
export const takeExpiryWarnings = (
  sql: Sql,
  days: number,
): Promise<readonly ExpiryWarning[]> => sql<ExpiryWarning[]>`
  with warned as (
    insert into credential_health as h (app_id, platform_id, warned_days, warned_version)
    select app_id, platform_id, ${days}::smallint, credential_version from app_platforms
    where credential_sealed is not null
      and credential_expires_at < now() + make_interval(days => ${days}::integer)
    on conflict (app_id, platform_id) do update set
      warned_days = excluded.warned_days, warned_version = excluded.warned_version
    where h.warned_version is distinct from excluded.warned_version or h.warned_days > excluded.warned_days
    returning app_id, platform_id
  ),
  expiring as (
    select app_id, platform_id, 'It expires soon: store another one.' as note, credential_expires_at as expires_at
    from warned join app_platforms using (app_id, platform_id)
  ),
  told as (
    ${recordTroubles(sql, 'expires-soon', sql`expiring`)}
  )
  select app_id as "appId", platform_id as "platformId",
    (extract(epoch from expires_at - now()) * 1000)::float8 as "expiresInMs"
  from expiring`;
