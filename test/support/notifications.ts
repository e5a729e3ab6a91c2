/** Tenants, tags and notifications as rows: what tests of the ledger and of sending begin with. */

import type { Sql, SqlPool } from '../../src/database/sql.ts';
import type { NotificationScope } from '../../src/domain/notification.ts';
import type { Among, ClaimedChunk } from '../../src/push/sql/ledger/claim-chunks.ts';
import { claimChunks } from '../../src/push/sql/ledger/claim-chunks.ts';
import type { ClaimedRetries } from '../../src/push/sql/ledger/claim-retries.ts';
import { claimRetries } from '../../src/push/sql/ledger/claim-retries.ts';
import { insertNotifications } from '../../src/push/sql/notifications/insert-notifications.ts';
import { planDue } from '../../src/push/sql/notifications/plan-due.ts';
import { aNotification } from './a-notification.ts';
import { seedDevices } from './seed.ts';

export interface Tenant {
  readonly clientId: number;
  readonly appId: number;
  readonly tagId: number;
}

/** A client with one app on platforms 3 and 15 and one tag. */
export async function makeTenant(sql: Sql, slug: string): Promise<Tenant> {
  const [client] = await sql<{ id: number }[]>`
    insert into clients (slug, name) values (${slug}, ${slug}) returning id`;
  const clientId = client?.id ?? 0;
  const [app] = await sql<{ id: number }[]>`
    insert into apps (client_id, name) values (${clientId}, 'App') returning id`;
  const appId = app?.id ?? 0;
  await sql`insert into app_platforms (app_id, platform_id) values (${appId}, 3), (${appId}, 15)`;
  return { clientId, appId, tagId: await makeTag(sql, clientId, { sourceId: 'news' }) };
}

export async function makeTag(
  sql: Sql,
  clientId: number,
  tag: {
    readonly sourceId?: string;
    readonly appIds?: readonly number[];
    readonly expiresAtMs?: number;
  },
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    insert into tags (client_id, name, source_id, app_ids, expires_at_ms)
    values (${clientId}, 'Tag', ${tag.sourceId ?? null}, ${tag.appIds === undefined ? null : [...tag.appIds]}::integer[],
      ${tag.expiresAtMs ?? null})
    returning id`;
  return row?.id ?? 0;
}

/** A notification to the tenant's tag on platform 3, not planned yet. */
export async function makeNotification(
  sql: Sql,
  { clientId, appId, tagId }: Tenant,
  more: {
    readonly expiresAtMs?: number;
    readonly platformIds?: readonly number[];
    readonly isAtMostOnce?: boolean;
    readonly isUrgent?: boolean;
    readonly ratePerSecond?: number;
  } = {},
): Promise<string> {
  const { platformIds = [3], ...terms } = more;
  const notification = aNotification({
    clientId,
    audience: { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] },
    scopes: platformIds.map((platformId) => ({ appId, platformId, isSimulated: false })),
    ...terms,
  });
  await insertNotifications(sql, [notification]);
  return notification.id;
}

/** A notification of a publisher without an audience, due in an hour. */
export async function insertScheduled(
  sql: Sql,
  clientId: number,
  userName: string,
): Promise<string> {
  const notification = aNotification({ clientId, userName, sendAtMs: Date.now() + 3_600_000 });
  await insertNotifications(sql, [notification]);
  return notification.id;
}

/**
 * A running notification to `devices` new devices of the tenant on platform 3; `step`: how far
 * apart their ordinals are.
 */
export async function makeRunning(
  sql: SqlPool,
  tenant: Tenant,
  devices: number,
  more: {
    readonly expiresAtMs?: number;
    readonly isAtMostOnce?: boolean;
    readonly isUrgent?: boolean;
    readonly ratePerSecond?: number;
    readonly step?: number;
  } = {},
): Promise<string> {
  await seedDevices(sql, {
    appId: tenant.appId,
    platformId: 3,
    tagIds: [tenant.tagId],
    count: devices,
    step: more.step ?? 1,
  });
  const id = await makeNotification(sql, tenant, more);
  await planDue(sql);
  return id;
}

/** Claims chunks of a notification, in whatever scopes it has some: at most `count` of each. */
export async function claimChunksOf(
  sql: Sql,
  notificationId: string,
  leaseMs: number,
  count = 1,
  nodeId: number | null = null,
  among: Among = 'unsuspected',
): Promise<readonly ClaimedChunk[]> {
  const parts = await partsOf(sql, notificationId);
  return claimChunks(
    sql,
    parts.map((part) => ({ ...part, count })),
    leaseMs,
    nodeId,
    among,
  );
}

/** Claims a batch of due retries in each scope of a notification that has some. */
export async function claimRetriesOf(
  sql: Sql,
  notificationId: string,
  leaseMs: number,
  nodeId: number | null = null,
): Promise<readonly ClaimedRetries[]> {
  return claimRetries(sql, await partsOf(sql, notificationId), leaseMs, nodeId);
}

const partsOf = (sql: Sql, notificationId: string) => sql<NotificationScope[]>`
  select notification_id as "notificationId", app_id as "appId", platform_id as "platformId"
  from notification_scopes where notification_id = ${notificationId}`;
