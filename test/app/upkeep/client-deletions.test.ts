/**
 * A deleted client is gone at once, and all that it leaves is erased afterwards, by nodes that die
 * between any two statements. On every store.
 */

import t from 'tap';
import { Authenticator } from '../../../src/access/authenticate.ts';
import { AppDeletions } from '../../../src/app/upkeep/app-deletions.ts';
import { clientDeletions } from '../../../src/app/upkeep/client-deletions.ts';
import { deleteClient } from '../../../src/catalogue/sql/delete-client.ts';
import { disableClient, enableClient } from '../../../src/clients/disable-client.ts';
import { findClient, listClients } from '../../../src/clients/find-client.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { insertNotifications } from '../../../src/push/sql/notifications/insert-notifications.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { NO_FEED } from '../../../src/tag-index/tag-index.ts';
import { aNotification } from '../../support/a-notification.ts';
import type { Tenant } from '../../support/api.ts';
import { addTenant, bearer, secrets } from '../../support/api.ts';
import { makeKey } from '../../support/keys.ts';
import { mortal } from '../../support/mortal.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { upkeepOf } from '../../support/upkeep.ts';

const MINUTE_MS = 60_000;
const DEVICES = 1_500;

/** A client with all that a client has, and a push that is under way, one that is due later. */
async function populate(sql: SqlPool, slug: string): Promise<Tenant> {
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const tenant = await addTenant(sql, slug);
  const { clientId, appId } = tenant;
  await makeKey(sql, tenant, { scopes: ['read'] });
  const [group] = await sql<{ id: number }[]>`
    insert into tag_groups (client_id, name) values (${clientId}, 'g') returning id`;
  await sql`insert into tag_groups (client_id, name, parent_id) values (${clientId}, 'below', ${group?.id ?? 0})`;
  const tags = await sql<{ id: number }[]>`
    insert into tags (client_id, name, group_id)
    select ${clientId}, n::text, ${group?.id ?? 0} from generate_series(1, 5) as n returning id`;
  const tagIds = tags.map(({ id }) => id);
  await sql`insert into tag_days (tag_id, day, slot) values (${tagIds[0] ?? 0}, '2020-01-01', 0)`;
  await sql`
    insert into notification_days (object_id, day, notifications, delivered, failed, last_accepted_at)
    select id, '2020-01-01', 1, 1, 0, now() from unnest(${[appId, ...tagIds]}::integer[]) as id`;
  await seedDevices(sql, { appId, platformId: 3, tagIds, count: DEVICES });
  await insertNotifications(
    sql,
    [null, Date.now() + 86_400_000].map((sendAtMs) =>
      aNotification({
        clientId,
        audience: { anyTagIds: tagIds, allTagIds: [], noneTagIds: [] },
        sendAtMs,
        scopes: [{ appId, platformId: 3, isSimulated: false }],
        idempotency: { key: `key-${sendAtMs}`, bodyHash: Buffer.from('x') },
      }),
    ),
  );
  await planDue(sql);
  return tenant;
}

/** Rows by table, of this client and of its apps. */
async function rowsOf(sql: SqlPool, { clientId, appId }: Tenant) {
  const columns = await sql<{ table: string; column: string }[]>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' and column_name in ('app_id', 'client_id') order by 1, 2`;
  const counts: Record<string, number> = {};
  for (const { table, column } of columns) {
    const id = column === 'app_id' ? appId : clientId;
    const [row] = await sql<{ count: number }[]>`
      select count(*) from ${sql(table)} where ${sql(column)} = ${id}`;
    if ((row?.count ?? 0) > 0) counts[`${table}.${column}`] = row?.count ?? 0;
  }
  return counts;
}

/** Plays the workers on a job that was cancelled: its chunks are counted, and it ends. */
const endCancelled = (sql: SqlPool) => sql`
  with gone as (
    delete from chunks where notification_id in (select id from notifications where state = 'CANCELLED')
  )
  update notifications set finished_at = now(), is_end_listed = true, open_chunks = 0 where state = 'CANCELLED' and finished_at is null`;

await onEachStore(t, {
  'disabled first, then gone at once, with its credentials': async (t, { sql }) => {
    const tenant = await populate(sql, 'acme');
    const authenticator = new Authenticator(sql, secrets);
    t.equal(await deleteClient(sql, 'nobody'), 'unknown');
    t.equal(await deleteClient(sql, 'acme'), 'enabled');
    t.match(await authenticator.authenticate(bearer(tenant.superUser)), { role: 'super-user' });
    t.ok(await disableClient(sql, 'acme'));
    t.equal(await deleteClient(sql, 'acme'), 'deleted');
    t.equal(await deleteClient(sql, 'acme'), 'unknown', 'again');
    t.notOk(await enableClient(sql, 'acme'));
    t.equal(await findClient(sql, 'acme'), null);
    const fresh = new Authenticator(sql, secrets);
    for (const caller of [tenant.superUser, tenant.apiUser]) {
      t.notMatch(await fresh.authenticate(bearer(caller)), { clientId: tenant.clientId });
    }
    t.same(await listClients(sql), [
      {
        id: tenant.clientId,
        slug: 'acme',
        name: 'acme',
        disabled: true,
        left: { apps: 1, devices: DEVICES, jobs: 2 },
      },
    ]);
    const left = await rowsOf(sql, tenant);
    for (const gone of ['credentials.client_id', 'client_keys.client_id', 'apps.client_id']) {
      t.notOk(gone in left, gone);
    }
  },

  'all of it is erased, whatever dies; another client keeps all': async (t, { sql }) => {
    const tenant = await populate(sql, 'acme');
    const other = await populate(sql, 'other');
    const before = await rowsOf(sql, other);
    await disableClient(sql, 'acme');
    await deleteClient(sql, 'acme');
    let nowMs = Date.now();
    let deaths = 0;
    for (let statements = 0; (await listClients(sql)).length > 1; statements += 1) {
      const dying = mortal(sql, statements);
      const work = [
        () => upkeepOf(dying, new AppDeletions(NO_FEED)).run(nowMs),
        () => upkeepOf(dying, clientDeletions(SILENT_JOURNAL)).run(nowMs),
      ];
      for (const run of work) {
        await run().catch((error: unknown) => {
          t.match(error, { message: 'killed' });
          deaths += 1;
        });
      }
      await endCancelled(sql);
      // The first runs are within the five minutes in which somebody may have found it alive.
      if (statements > 5) nowMs = Date.now() + 60 * MINUTE_MS;
    }
    t.ok(deaths > 10, `${deaths} deaths`);
    t.same(await rowsOf(sql, tenant), {}, 'no table names it');
    t.same(await rowsOf(sql, other), before);
    const [row] = await sql`
        select count(*) from tag_days
        where tag_id <> 0 and tag_id not in (select id from tags)
          or tag_id = 0 and app_id not in (select id from apps)`;
    t.same(row, { count: 0 });
    const [counted] = await sql`
      select count(*) from notification_days
      where object_id not in (select id from tags union all select id from apps)`;
    t.same(counted, { count: 0 });
    t.match(await addTenant(sql, 'acme'), { slug: 'acme' }, 'the name is free again');
  },
});
