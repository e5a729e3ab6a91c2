/** The way of the database to a page of notifications, on every store. */

import t from 'tap';
import {
  listNotifications,
  SEARCHED_MAX,
} from '../../../../src/push/sql/notifications/list-notifications.ts';
import { makeNotification, makeTenant } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';

const FAULTY = {
  state: 'FINISHED',
  appId: null,
  tagId: null,
  fromMs: null,
  toMs: null,
  publisher: null,
  hasFaults: true,
  q: null,
} as const;

await onEachStore(t, {
  'those with a fault are found without a look at the others': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const id = await makeNotification(sql, tenant);
    await sql`
      insert into notifications
      select (jsonb_populate_record(n, jsonb_build_object('id', gen_random_uuid()))).*
      from notifications n, generate_series(1, 5000)`;
    await sql`
      insert into notification_scopes (notification_id, app_id, platform_id, simulated)
      select id, ${tenant.appId}, 15, false from notifications`;
    await sql`update notifications set state = 'FINISHED', finished_at = now()`;
    await sql`update notification_scopes set fault = 'There is no key.' where notification_id = ${id}`;
    await sql`analyze notifications, notification_scopes`;
    const page = { before: null, limit: 51 };
    t.match(await listNotifications(sql, tenant.clientId, FAULTY, page), [
      { id, faults: [{ platformId: 3 }, { platformId: 15 }] },
    ]);
    const plan = await sql`
      explain (format json) ${listNotifications(sql, tenant.clientId, FAULTY, page)}`;
    const text = JSON.stringify(plan);
    t.match(text, '"notification_scopes_faults"');
    t.match(text, /id = (s|notification_scopes)\.notification_id/, 'each by its id');
    t.notMatch(text, /Seq Scan[^{}]*"Relation Name":"notifications"/);
  },

  'a word of a title is looked for among the newest, by their index': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'searching');
    const id = await makeNotification(sql, tenant);
    // Ids in the order of their rows, as those of UUIDv7 are: else the planner may prefer to sort.
    const newer = (from: number, to: number) => sql`
      insert into notifications
      select (jsonb_populate_record(
        n, jsonb_build_object('id', 'ffffffff-ffff-7fff-bfff-' || lpad(to_hex(i), 12, '0'))
      )).*
      from notifications n, generate_series(${from}::integer, ${to}::integer) i where n.id = ${id}`;
    await newer(1, SEARCHED_MAX - 1);
    await sql`update notifications set payload = '{"title": "Eclipse"}' where id = ${id}`;
    await sql`analyze notifications`;
    const filter = { ...FAULTY, state: null, hasFaults: false, q: 'ecl' };
    const page = { before: null, limit: 51 };
    const found = () => listNotifications(sql, tenant.clientId, filter, page);
    t.match(await found(), [{ id }]);
    const plan = await sql`explain (format json) ${found()}`;
    t.notMatch(JSON.stringify(plan), /Seq Scan[^{}]*"Relation Name":"notifications"/);
    await newer(SEARCHED_MAX, SEARCHED_MAX);
    const [another, ...others] = await found();
    t.match(another?.id, /^ffffffff/);
    t.same(others, [], 'one more is newer');
  },
});
