/** Notes which devices a send has failed for, a bounded number of each scope. */

import { NOTIFICATION_SCOPE } from '../../database/columns.ts';
import { integer, rowsOf, text } from '../../database/rows.ts';
import type { Sql } from '../../database/sql.ts';
import type { NotificationScope } from '../../domain/notification.ts';
import type { DeviceFailure, Progress } from '../../domain/progress.ts';
import { isScopeOf } from './ledger/scope-of.ts';

/**
 * Bounds each scope of a notification: a million dead tokens must not become a million rows.
 * @limit failed devices that are noted, of a send to an app on a platform → counted only
 */
const NOTED_FAILURES_MAX = 1_000;

interface FailedSend extends NotificationScope, DeviceFailure {}

/** The failures of single devices in the reports. */
export const failedSendsIn = (reports: readonly Progress[]): readonly FailedSend[] =>
  reports.flatMap(({ notificationId, appId, platformId, failures = [] }) =>
    failures.map((failure) => ({ notificationId, appId, platformId, ...failure })),
  );

/**
 * Runs in a transaction that holds the notifications; may be repeated. Nothing is noted of a device
 * that is being erased: erasing holds its row, and so does this.
 */
export const noteFailures = (tx: Sql, failed: readonly FailedSend[]) => tx`
  with told as (
    select f.*, row_number() over (partition by notification_id, app_id, platform_id order by ordinal) as number
    from ${failures(tx, failed)}
  ),
  noted as (
    insert into device_events (device_key, app_id, platform_id, kind, notification_id, reason)
    select d.device_key, h.app_id, h.platform_id, 'failed', h.notification_id, h.reason
    from told h
    join notification_scopes s on ${isScopeOf(tx)}
    join devices d on d.app_id = any (array[h.app_id])
      and (d.platform_id, d.ordinal) = (h.platform_id, h.ordinal)
    where h.number <= ${NOTED_FAILURES_MAX}::integer - s.noted_failures
    order by d.device_key, h.app_id, h.platform_id, h.notification_id
    for key share of d skip locked
    on conflict do nothing
    returning notification_id, app_id, platform_id
  )
  update notification_scopes s set noted_failures = s.noted_failures + h.count
  from (
    select notification_id, app_id, platform_id, count(*)::integer as count
    from noted group by notification_id, app_id, platform_id
  ) h
  where ${isScopeOf(tx)}`;

const failures = rowsOf<FailedSend>('f', {
  ...NOTIFICATION_SCOPE,
  ordinal: integer(({ ordinal }) => ordinal),
  reason: text(({ reason }) => reason),
});
