/**
 * Records what became of places (decision 78), in the transaction that records the outcomes: who
 * surely has no message gives its place back, and who was left out is counted.
 */

import { NOTIFICATION_SCOPE } from '../../../database/columns.ts';
import { boolean, integer, octets, rowsOf, text } from '../../../database/rows.ts';
import type { Sql } from '../../../database/sql.ts';
import { GROUP_DEVICES } from '../../../domain/device.ts';
import type { NotificationScope } from '../../../domain/notification.ts';
import type { ChunkProgress, PlacesProgress, RetryProgress } from '../../../domain/progress.ts';

/** The reports count, and are about different chunks. */
export const settlePlaces = (sql: Sql, reports: readonly SettledPlaces[]) => sql`
  with given as (
    select * from ${settled(sql, reports)}
  ),
  kept as (
    insert into cap_places as p
      (app_id, platform_id, group_number, notification_id, category, taken, returned, withheld)
    select app_id, platform_id, group_number, notification_id, category, ''::bytea, returned, withheld
    from given where withheld is not null
    order by app_id, platform_id, group_number, notification_id
    on conflict (app_id, platform_id, group_number, notification_id) do update set
      returned = coalesce(p.returned || excluded.returned, excluded.returned, p.returned),
      withheld = coalesce(p.withheld, '') || excluded.withheld,
      last_at = excluded.last_at
  ),
  -- Without a row nobody has a place.
  noted as (
    update cap_places p set
      returned = coalesce(p.returned || g.returned, g.returned, p.returned),
      last_at = clock_timestamp()
    from given g
    where g.withheld is null
      and (p.app_id, p.platform_id, p.group_number, p.notification_id)
        = (g.app_id, g.platform_id, g.group_number, g.notification_id)
  )
  update notification_scopes s set withheld = coalesce(s.withheld, 0) + sums.devices
  from (
    select notification_id, app_id, platform_id, sum(devices) as devices from given
    group by notification_id, app_id, platform_id having sum(devices) > 0
  ) sums
  where (s.notification_id, s.app_id, s.platform_id)
    = (sums.notification_id, sums.app_id, sums.platform_id)`;

export type SettledPlaces = ChunkProgress & { readonly places: PlacesProgress };

const settled = rowsOf<SettledPlaces>('settled', {
  ...NOTIFICATION_SCOPE,
  group_number: integer(({ groupNumber }) => groupNumber),
  category: text(({ places }) => places.category),
  returned: octets(({ places }) => places.returned?.words ?? null),
  withheld: octets(({ places }) => places.withheld?.words ?? null),
  devices: integer(({ places }) => places.withheld?.devices ?? 0),
});

/**
 * Before the settlements are recorded, and only of those that will count then: each holds its row
 * under its epoch. One whose send may have arrived keeps its place, and so does one that an
 * operator may send again.
 */
export const settleRetryPlaces = (sql: Sql, reports: readonly RetryProgress[]) => sql`
  with held as (
    select r.*, q.may_have_arrived, r.ordinal / ${GROUP_DEVICES}::integer as group_number
    from (
      select * from ${retried(sql, reports.flatMap(retriedIn))}
      order by notification_id, app_id, platform_id, ordinal
    ) r
    cross join lateral (
      select coalesce(is_reached, false) or coalesce(is_doubted, false) as may_have_arrived
      from retries
      where (notification_id, app_id, platform_id) = (r.notification_id, r.app_id, r.platform_id)
        and ordinal between r.ordinal and r.ordinal
        and epoch = r.epoch and lease_until is not null
      order by ordinal limit 1
      for update
    ) q
  )
  update cap_places p set
    returned = case
      when h.words is null then p.returned else coalesce(p.returned, '') || h.words end,
    last_at = clock_timestamp()
  from (
    select notification_id, app_id, platform_id, group_number,
      string_agg(int2send((ordinal % ${GROUP_DEVICES}::integer)::smallint), ''::bytea)
        filter (where is_given_back and not may_have_arrived) as words
    from held
    group by notification_id, app_id, platform_id, group_number
  ) h
  where (p.app_id, p.platform_id, p.group_number, p.notification_id)
    = (h.app_id, h.platform_id, h.group_number, h.notification_id)`;

interface Retried extends NotificationScope {
  readonly ordinal: number;
  readonly epoch: number;
  readonly isGivenBack: boolean;
}

const retriedIn = (report: RetryProgress): readonly Retried[] =>
  report.settlements.map(({ ordinal, epoch, ending, isReached }) => ({
    notificationId: report.notificationId,
    appId: report.appId,
    platformId: report.platformId,
    ordinal,
    epoch,
    isGivenBack: ending !== null && !isReached && report.isParked !== true,
  }));

const retried = rowsOf<Retried>('retried', {
  ...NOTIFICATION_SCOPE,
  ordinal: integer(({ ordinal }) => ordinal),
  epoch: integer(({ epoch }) => epoch),
  is_given_back: boolean(({ isGivenBack }) => isGivenBack),
});
