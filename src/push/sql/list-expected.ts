/** The newest sends to an app and platform whose audience a device with these tags is in. */

import { compileFor } from '../../attributes/compile-for.ts';
import { readClock } from '../../database/read-clock.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { AskedAudience } from '../../domain/asked-audience.ts';
import { isPlain } from '../../domain/asked-audience.ts';
import { isInAudience } from '../../domain/audience.ts';
import type { Scope } from '../../domain/device.ts';
import { entriesOf } from '../../domain/device-numbers.ts';
import type { ExpectedSend, SendsToList } from '../../domain/expected-send.ts';
import type { DeviceRow } from '../../domain/row-tests.ts';
import { firstUuidAt } from '../../domain/uuid-v7.ts';
import { storedAudience } from './notifications/terms.ts';

type Row = ExpectedSend & { readonly audience: AskedAudience };

/**
 * Some 20 ms of the database's time.
 * @limit notifications of the client that are looked through for expected sends → older ones are
 * left out
 */
const NOTIFICATIONS_MAX = 10_000;

/** Looks through the newest NOTIFICATIONS_MAX notifications of the client. */
export async function listExpectedSends(
  sql: Sql,
  clientId: number,
  { appId, platformId }: Scope,
  tagIds: readonly number[],
  { sinceMs, limit, publisher, ordinal }: SendsToList,
): Promise<readonly ExpectedSend[]> {
  // Without this, all sends would be read only to find that none has this audience.
  if (tagIds.length === 0) return [];
  const tags = list(tagIds);
  const rows = await sql<Row[]>`
    select n.id as "notificationId", n.payload ->> 'title' as title, n.state,
      floor(extract(epoch from n.send_at) * 1000)::float8 as "sendAtMs",
      floor(extract(epoch from n.last_send_at) * 1000)::float8 as "lastSendAtMs",
      n.finished_at is not null and s.failed = s.noted_failures
        and s.skipped + s.expired + s.cancelled + coalesce(s.withheld, 0) = 0 as "isWholeKnown",
      ${storedAudience(sql)} as audience
    from (
      select * from notifications
      where client_id = ${clientId} and id >= ${firstUuidAt(sinceMs)}::uuid
      order by id desc limit ${NOTIFICATIONS_MAX}
    ) n
    join notification_scopes s on s.notification_id = n.id and s.app_id = ${appId} and s.platform_id = ${platformId}
    where (${publisher}::text is null or n.user_name = ${publisher})
      and (n.any_tag_ids && ${tags}::integer[] or n.is_to_everybody) and n.all_tag_ids <@ ${tags}::integer[]
      and not n.none_tag_ids && ${tags}::integer[]
    order by n.id desc limit ${limit}`;
  const arePlain = rows.every((row) => isPlain(row.audience));
  const known = arePlain ? null : await knownOf(sql, { appId, platformId }, ordinal);
  const nowMs = arePlain ? 0 : await readClock(sql);
  const found: ExpectedSend[] = [];
  for (const { audience, ...send } of rows) {
    const audienceIn = await compileFor(sql, clientId, audience, nowMs);
    const isMeant = isInAudience(
      audienceIn({ appId, platformId }),
      tagIds,
      known?.facetIds ?? [],
      known,
    );
    if (isMeant) found.push(send);
  }
  return found;
}

interface KnownOfDevice extends DeviceRow {
  readonly facetIds: readonly number[] | null;
}

/** The values of attributes that the device has, and its days and numbers. */
async function knownOf(
  sql: Sql,
  { appId, platformId }: Scope,
  ordinal: number | undefined,
): Promise<KnownOfDevice | null> {
  if (ordinal === undefined) return null;
  const [row] = await sql<(Omit<KnownOfDevice, 'numbers'> & { readonly digits: string })[]>`
    select facet_ids as "facetIds", registered_on - date '1970-01-01' as registered,
      floor(extract(epoch from nullif(registered_at, to_timestamp(0))) / 86400)::integer as "lastSeen",
      coalesce(encode(numbers, 'hex'), '') as digits
    from devices
    where app_id = ${appId} and platform_id = ${platformId} and ordinal = ${ordinal}`;
  if (row === undefined) return null;
  const { digits, ...known } = row;
  return { ...known, numbers: entriesOf(digits) };
}
