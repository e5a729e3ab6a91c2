/** Counting the open push jobs of a client, on every store. */

import t from 'tap';
import { countOpen } from '../../../../src/push/sql/notifications/count-open.ts';
import { makeNotification, makeTenant } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';

await onEachStore(t, {
  'it reads no job of another client': async (t, { sql }) => {
    const [acme, other] = [await makeTenant(sql, 'acme'), await makeTenant(sql, 'other')];
    await makeNotification(sql, acme);
    const id = await makeNotification(sql, other);
    await sql`update notifications set state = 'RUNNING'`;
    await sql`
      insert into notifications
      select (jsonb_populate_record(n, jsonb_build_object('id', gen_random_uuid()))).*
      from notifications n, generate_series(1, 2000) where n.id = ${id}::uuid`;
    await sql`analyze notifications`;
    t.equal(await countOpen(sql, acme.clientId, 10), 1);
    t.equal(await countOpen(sql, other.clientId, 10), 10, 'no more than it has to');
    const plan = await sql`
      explain select from notifications
      where client_id = ${acme.clientId} and finished_at is null and state in ('RUNNING', 'PAUSED', 'CANCELLED')
      limit 10`;
    t.match(JSON.stringify(plan), 'notifications_under_way_of_client');
  },
});
