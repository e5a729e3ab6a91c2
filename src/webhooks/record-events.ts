/**
 * The outbox of webhooks: statements write a row for every webhook that wants an event, in the
 * transaction of the change. Where none wants it, nothing is locked.
 */

import { DEVICE_PLACE } from '../database/columns.ts';
import { rowsOf, text } from '../database/rows.ts';
import type { Fragment, Sql } from '../database/sql.ts';
import type { DevicePlace } from '../domain/device-group-change.ts';
import type { WebhookEventType } from '../domain/webhook.ts';
import type { Removal } from './record-removals.ts';

/**
 * A million dead tokens are some thousand events.
 * @limit bytes of tokens in one event of a webhook → another event
 */
const TOKEN_BYTES_PER_EVENT = 65_536;

/** Joins the webhooks `w` of the client of an app that want to know. */
const wantedIn = (sql: Sql, app: Fragment, type: WebhookEventType): Fragment => sql`
  join apps a on a.id = ${app}
  join webhooks w on ${wants(sql, sql`a.client_id`, type)}`;

const wants = (sql: Sql, clientId: Fragment, type: WebhookEventType): Fragment => sql`
  w.client_id = ${clientId} and w.is_enabled and ${type}::text = any (w.event_types)`;

/**
 * The query that writes `job.finished`, and `notification.withheld` where devices were left out.
 * `ended`: a query or table with id, client_id and state of the jobs that end here; earlier
 * statements have written their counts.
 */
export const recordEndedJobs = (sql: Sql, ended: Fragment): Fragment => sql`
  insert into webhook_events (webhook_id, type, data)
  select w.id, t.type, case
    when t.type = 'notification.withheld' then json_build_object(
      'jobId', e.id, 'category', (select category from notifications n where n.id = e.id),
      'totalCount', c.total, 'withheldCount', c.withheld, 'withheldReasons', ${withheldReasons(sql)}
    )
    when c.withheld > 0 then json_build_object(
      ${countsOfEnded(sql)}, 'withheldCount', c.withheld, 'withheldReasons', ${withheldReasons(sql)}
    )
    else json_build_object(${countsOfEnded(sql)})
  end
  from ${ended} e
  cross join (values ('job.finished'), ('notification.withheld')) as t (type)
  join webhooks w on w.client_id = e.client_id and w.is_enabled and t.type = any (w.event_types)
  cross join lateral (
    select coalesce(sum(total), 0) as total, coalesce(sum(delivered), 0) as delivered,
      coalesce(sum(failed), 0) as failed, coalesce(sum(skipped), 0) as skipped,
      coalesce(sum(expired), 0) as expired, coalesce(sum(cancelled), 0) as cancelled,
      coalesce(sum(withheld), 0) as withheld
    from notification_scopes where notification_id = e.id
  ) c
  where t.type = 'job.finished' or c.withheld > 0
  order by e.id, w.id, t.type`;

const countsOfEnded = (sql: Sql) => sql`
  'jobId', e.id, 'state', e.state, 'totalCount', c.total, 'successCount', c.delivered, 'failedCount', c.failed,
  'skippedCount', c.skipped, 'expiredCount', c.expired, 'cancelledCount', c.cancelled`;

const withheldReasons = (sql: Sql) => sql`json_build_object('frequencyCap', c.withheld)`;

/** Before the devices are erased. `notificationId`: of the send whose answers decided. */
export const recordRemovedTokens = (
  tx: Sql,
  notificationId: string,
  devices: readonly Removal[],
) => tx`
  insert into webhook_events (webhook_id, type, data)
  select webhook_id, 'token.removed', json_build_object(
    'appId', app_id, 'platformId', platform_id, 'jobId', ${notificationId}::text, 'reason', reason,
    'deviceIds', json_agg(device_id order by device_id)
  )
  from (
    select w.id as webhook_id, d.app_id, d.platform_id, removed.reason, d.device_id,
      sum(octet_length(to_json(d.device_id)::text)) over (
        partition by w.id, d.app_id, d.platform_id, removed.reason order by d.ordinal
      ) / ${TOKEN_BYTES_PER_EVENT}::integer as event
    from ${removed(tx, devices)}
    ${wantedIn(tx, tx`removed.app_id`, 'token.removed')}
    join devices d
      on d.app_id = removed.app_id and d.platform_id = removed.platform_id and d.ordinal = removed.ordinal
  ) t
  group by webhook_id, app_id, platform_id, reason, event
  order by webhook_id`;

const removed = rowsOf<Removal>('removed', {
  ...DEVICE_PLACE,
  reason: text(({ reason }) => reason),
});

/** A device, by the token that it had, and the one that it has now. */
interface ReplacedToken extends DevicePlace {
  readonly newDeviceId: string;
}

/** Before the row of the old token is changed or erased. */
export const recordReplacedTokens = (tx: Sql, devices: readonly ReplacedToken[]) => tx`
  insert into webhook_events (webhook_id, type, data)
  select webhook_id, 'token.replaced', json_build_object(
    'appId', app_id, 'platformId', platform_id,
    'tokens', json_agg(json_build_object('deviceId', device_id, 'newDeviceId', new_device_id) order by device_id)
  )
  from (
    select w.id as webhook_id, d.app_id, d.platform_id, d.device_id, replaced.new_device_id,
      sum(octet_length(to_json(d.device_id || replaced.new_device_id)::text)) over (
        partition by w.id, d.app_id, d.platform_id order by d.ordinal
      ) / ${TOKEN_BYTES_PER_EVENT}::integer as event
    from ${replaced(tx, devices)}
    ${wantedIn(tx, tx`replaced.app_id`, 'token.replaced')}
    join devices d
      on d.app_id = replaced.app_id and d.platform_id = replaced.platform_id and d.ordinal = replaced.ordinal
  ) t
  group by webhook_id, app_id, platform_id, event
  order by webhook_id`;

const replaced = rowsOf<ReplacedToken>('replaced', {
  ...DEVICE_PLACE,
  new_device_id: text(({ newDeviceId }) => newDeviceId),
});

type CredentialTrouble =
  /** A send was stopped by it. */
  | 'send-stopped'
  /** The daily check, or one that somebody asked for, was refused. */
  | 'check-failed'
  /** The new one is refused, so the one before it is used as long as it may be. */
  | 'fallback-used'
  | 'expires-soon';

/**
 * The query that writes `credential.trouble`. `troubles`: app_id, platform_id, note, expires_at.
 */
export const recordTroubles = (
  sql: Sql,
  trouble: CredentialTrouble,
  troubles: Fragment,
): Fragment => sql`
  insert into webhook_events (webhook_id, type, data)
  select w.id, 'credential.trouble', json_strip_nulls(json_build_object(
    'appId', c.app_id, 'platformId', c.platform_id, 'trouble', ${trouble}::text, 'note', c.note,
    'expiresAt', floor(extract(epoch from c.expires_at) * 1000)
  ))
  from ${troubles} c
  ${wantedIn(sql, sql`c.app_id`, 'credential.trouble')}
  order by w.id, c.app_id, c.platform_id`;
