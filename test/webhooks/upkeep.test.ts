/** The data of webhooks is bounded, and a dropped event is reported. */

import t from 'tap';
import { v7 as uuidV7 } from 'uuid';
import { listDeliveries } from '../../src/webhooks/sql/deliveries.ts';
import { findWebhook } from '../../src/webhooks/sql/webhooks.ts';
import { webhookData } from '../../src/webhooks/upkeep.ts';
import { addTenant } from '../support/api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { upkeepOf } from '../support/upkeep.ts';
import { addEvents, makeWebhook } from '../support/webhooks.ts';

const URL = 'https://cms.example/hook';
const DAY_MS = 86_400_000;
const LIMITS = { waitingEventsMax: 5, deliveriesMax: 3 };

await onEachStore(t, {
  'the oldest events above the limit are dropped, and counted': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'demo');
    const { id: full } = await makeWebhook(sql, clientId, URL);
    const { id: other } = await makeWebhook(sql, clientId, URL);
    await addEvents(sql, full, 8);
    await addEvents(sql, other, 5);
    const keeping = upkeepOf(sql, webhookData(LIMITS));
    await keeping.run(Date.now());
    await keeping.run(Date.now());
    const left = await sql`
      select webhook_id as id, (data ->> 'n')::integer as n from webhook_events order by webhook_events.id`;
    t.same(
      left.map((row) => [row['id'], row['n']]),
      [...[4, 5, 6, 7, 8].map((n) => [full, n]), ...[1, 2, 3, 4, 5].map((n) => [other, n])],
    );
    t.match(await findWebhook(sql, clientId, full), { droppedEvents: 3 });
    t.match(await findWebhook(sql, clientId, other), { droppedEvents: 0 });
  },

  'deliveries go when they are a week old, or too many': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, URL);
    const made: string[] = [];
    for (const days of [9, 8, 6, 5, 4, 3]) {
      const deliveryId = uuidV7({ msecs: Date.now() - days * DAY_MS });
      made.push(deliveryId);
      await sql`
        insert into webhook_deliveries (id, webhook_id, events, event_count) values (${deliveryId}, ${id}, '[]', 0)`;
    }
    const ids = async () =>
      (await listDeliveries(sql, id, { state: null, before: null, limit: 10 }))
        .map((delivery) => delivery.id)
        .reverse();
    await upkeepOf(sql, webhookData({ ...LIMITS, deliveriesMax: 100 })).run(Date.now());
    t.same(await ids(), made.slice(2));
    await upkeepOf(sql, webhookData(LIMITS)).run(Date.now());
    t.same(await ids(), made.slice(3));
  },

  'what a deleted webhook was to be told': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'demo');
    const { id: gone } = await makeWebhook(sql, clientId, URL);
    const { id: stays } = await makeWebhook(sql, clientId, URL);
    await addEvents(sql, gone, 3);
    await addEvents(sql, stays, 2);
    await sql`delete from webhooks where id = ${gone}`;
    await upkeepOf(sql, webhookData(LIMITS)).run(Date.now());
    const left = await sql`select distinct webhook_id as id from webhook_events`;
    t.same(
      left.map((row) => row['id']),
      [stays],
    );
  },
});
