/** Deliveries to a receiver, by one node or several, also when it fails or a node dies. */

import t from 'tap';
import { createSecrets } from '../../src/access/secrets.ts';
import type { SqlPool } from '../../src/database/sql.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/domain/webhook.ts';
import { makeWebhookSecret, sealWebhookSecret } from '../../src/webhooks/secret.ts';
import { claimWebhooks, takeDelivery } from '../../src/webhooks/sql/claim-deliveries.ts';
import { listDeliveries, replayDeliveries } from '../../src/webhooks/sql/deliveries.ts';
import { changeWebhook, findWebhook, replaceSecret } from '../../src/webhooks/sql/webhooks.ts';
import { addTenant, secrets } from '../support/api.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { until } from '../support/poll.ts';
import { isSigned, startReceiver } from '../support/webhook-receiver.ts';
import { addEvents, makeWebhook, webhookNode } from '../support/webhooks.ts';

const ALL = { state: null, before: null, limit: 1_000 };
const NEW_ID = '01979c5e-8b5a-7d1e-9f5b-0d5f3c1c9a77';

const numbersOf = (events: readonly { readonly data: { readonly n: number } }[]) =>
  events.map(({ data }) => data.n);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

const waitingIn = async (sql: SqlPool): Promise<number> => {
  const [row] = await sql<{ count: number }[]>`select count(*) from webhook_events`;
  return row?.count ?? 0;
};

await onEachStore(t, {
  'several events in one signed request, in their order': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const webhook = await makeWebhook(sql, clientId, receiver.url);
    const other = await makeWebhook(sql, clientId, `${receiver.url}/other`);
    await addEvents(sql, webhook.id, 3);
    const node = webhookNode(sql);
    await node.run();
    t.equal(receiver.heard.length, 1);
    const [heard] = receiver.heard;
    if (heard === undefined) return;
    t.match(heard, { path: '/hook', headers: { 'content-type': 'application/json' } });
    t.ok(isSigned(heard, webhook.secret));
    t.notOk(isSigned(heard, other.secret));
    t.match(JSON.parse(heard.body), { type: 'events', timestamp: /^\d{4}-.*Z$/ });
    t.match(heard.events[0], { type: 'job.finished', timestamp: /^\d{4}-.*\.\d{3}Z$/ });
    t.same(numbersOf(heard.events), [1, 2, 3]);
    const deliveries = await listDeliveries(sql, webhook.id, ALL);
    t.match(deliveries, [
      { id: heard.id, state: 'delivered', eventCount: 3, attempts: 1, status: 204, fault: null },
    ]);
    await node.run();
    t.equal(receiver.heard.length, 1, 'once');
    t.same(node.outcomes, ['delivered']);
  },

  'a million events: requests of a bounded size, and all of them': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    await addEvents(sql, id, 1_200);
    await addEvents(sql, id, 7, { text: 'x'.repeat(100_000) });
    await addEvents(sql, id, 1, { text: 'x'.repeat(1_000_000) });
    await webhookNode(sql).run();
    const sizes = receiver.heard.map(({ events }) => events.length);
    t.same(sizes, [500, 500, 202, 2, 2, 1, 1], 'the last is larger than a request may be');
    t.same(numbersOf(receiver.events()), [...upTo(1_200), ...upTo(7), 1]);
    t.equal(await waitingIn(sql), 0);
  },

  'a failed request is repeated with the same id and body, then given up, then replayed': async (
    t,
    { sql },
  ) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id, secret } = await makeWebhook(sql, clientId, receiver.url);
    receiver.answer = () => 503;
    await addEvents(sql, id, 2);
    const node = webhookNode(sql, { attemptsMax: 3 });
    await node.run();
    t.equal(receiver.heard.length, 3);
    t.equal(new Set(receiver.heard.map(({ id }) => id)).size, 1);
    t.equal(new Set(receiver.heard.map(({ body }) => body)).size, 1);
    t.ok(receiver.heard.every((heard) => isSigned(heard, secret)));
    t.same(node.outcomes, ['failed', 'failed', 'dead']);
    const dead = { state: 'dead', attempts: 3, status: 503, fault: 'answered 503' };
    t.match(await listDeliveries(sql, id, ALL), [dead]);
    await node.run();
    t.equal(receiver.heard.length, 3, 'given up');

    receiver.answer = () => 200;
    t.equal(await replayDeliveries(sql, id, null), 1);
    t.equal(await replayDeliveries(sql, id, null), 0, 'it is pending now');
    await node.run();
    t.equal(receiver.heard.length, 4);
    t.equal(receiver.heard[3]?.body, receiver.heard[0]?.body);
    const delivered = { state: 'delivered', attempts: 1, status: 200, fault: null };
    t.match(await listDeliveries(sql, id, ALL), [delivered]);
    const [first] = receiver.heard;
    t.equal(await replayDeliveries(sql, id, [first?.id ?? '']), 1, 'what was delivered, too');
    await node.run();
    t.equal(receiver.heard.length, 5);
  },

  'after a failure the delivery waits, and so does its receiver': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    receiver.answer = () => 500;
    await addEvents(sql, id, 1);
    const patient = {
      attemptBackoff: { baseMs: 3_600_000, capMs: 3_600_000 },
      restBackoff: { baseMs: 1_800_000, capMs: 3_600_000 },
    };
    await webhookNode(sql, patient).run();
    await addEvents(sql, id, 1);
    await webhookNode(sql, patient).run();
    t.equal(receiver.heard.length, 1, 'it rests');
    const minutesTo = async (column: string, table: string) => {
      const [row] = await sql<{ minutes: number }[]>`
        select extract(epoch from ${sql(column)} - now())::float8 / 60 as minutes from ${sql(table)}`;
      return row?.minutes ?? 0;
    };
    const retry = await minutesTo('due_at', 'webhook_deliveries');
    t.ok(retry > 55 && retry <= 90, 'with jitter above the hour');
    const rest = await minutesTo('not_before', 'webhooks');
    t.ok(rest > 25 && rest <= 45);
    receiver.answer = () => 200;
    await sql`update webhooks set not_before = now()`;
    await webhookNode(sql, patient).run();
    t.same(numbersOf(receiver.events()), [1, 1], 'the next one does not wait for the first');
    t.match(await listDeliveries(sql, id, ALL), [{ state: 'delivered' }, { state: 'pending' }]);
    const [row] = await sql`select failures from webhooks`;
    t.match(row, { failures: 0 });
  },

  'redirects and private addresses are failures': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    receiver.answer = () => 302;
    await addEvents(sql, id, 1);
    await webhookNode(sql, { attemptsMax: 1 }).run();
    const redirect = { state: 'dead', status: 302, fault: /redirects are not followed/ };
    t.match(await listDeliveries(sql, id, ALL), [redirect]);
    await replayDeliveries(sql, id, null);
    await webhookNode(sql, { attemptsMax: 1, isPrivateAllowed: false }).run();
    const hidden = { state: 'dead', status: null, fault: /public internet/ };
    t.match(await listDeliveries(sql, id, ALL), [hidden]);
    t.equal(receiver.heard.length, 1);
  },

  'a receiver that is gone: its webhook is turned off, and can be turned on again': async (
    t,
    { sql },
  ) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    receiver.answer = () => 410;
    await addEvents(sql, id, 1);
    await webhookNode(sql).run();
    await addEvents(sql, id, 1);
    await webhookNode(sql).run();
    t.equal(receiver.heard.length, 1, 'asked once');
    const gone = { state: 'dead', attempts: 1, status: 410, fault: /410.*turned off/ };
    t.match(await listDeliveries(sql, id, ALL), [gone]);
    t.match(await findWebhook(sql, clientId, id), { isEnabled: false, goneAt: Number });
    const entries = await sql`
      select action, object_id as id, actor_kind as actor, object_name as name from audit_entries`;
    const { host } = new URL(receiver.url);
    t.same(entries, [{ action: 'webhook.disable', id: String(id), actor: 'engine', name: host }]);

    receiver.answer = () => 204;
    const terms = { url: receiver.url, eventTypes: WEBHOOK_EVENT_TYPES };
    await changeWebhook(sql, id, { ...terms, url: `${receiver.url}/new`, isEnabled: false });
    t.match(await findWebhook(sql, clientId, id), { goneAt: Number }, 'it is off still');
    await changeWebhook(sql, id, { ...terms, isEnabled: true });
    t.match(await findWebhook(sql, clientId, id), { isEnabled: true, goneAt: null });
    t.equal(await replayDeliveries(sql, id, null), 1);
    await webhookNode(sql).run();
    t.equal(receiver.events().length, 3, 'what was refused, and what waited');
  },

  'gone, but moved while the request was under way: it stays on': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    const terms = { eventTypes: WEBHOOK_EVENT_TYPES, isEnabled: true };
    receiver.answer = (_heard, response) => {
      const url = `${receiver.url}/new`;
      void changeWebhook(sql, id, { ...terms, url }).then(() => response.writeHead(410).end());
      return null;
    };
    await addEvents(sql, id, 1);
    await webhookNode(sql).run();
    t.match(await findWebhook(sql, clientId, id), { isEnabled: true, goneAt: null });
    t.same(await sql`select action from audit_entries`, []);
  },

  'a receiver that asks for a rest gets it, within a bound': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    /** Until the delivery is due, and until the receiver is asked again. */
    const minutesAfter = async (status: number, retryAfter: string) => {
      receiver.answer = (_heard, response) => {
        response.writeHead(status, { 'retry-after': retryAfter }).end();
        return null;
      };
      await sql`delete from webhook_deliveries`;
      await sql`update webhooks set not_before = now()`;
      await addEvents(sql, id, 1);
      await webhookNode(sql).run();
      const [row] = await sql<{ due: number; rest: number }[]>`
        select round(extract(epoch from due_at - last_attempt_at) / 60)::float8 as due,
          round(extract(epoch from not_before - last_attempt_at) / 60)::float8 as rest
        from webhook_deliveries join webhooks w on w.id = webhook_id`;
      return [row?.due, row?.rest];
    };
    t.same(await minutesAfter(503, '600'), [10, 10]);
    t.same(await minutesAfter(429, new Date(Date.now() + 1_200_000).toUTCString()), [20, 20]);
    t.same(await minutesAfter(429, '999999'), [60, 60], 'an hour at most');
    const heard = receiver.heard.length;
    await webhookNode(sql).run();
    t.equal(receiver.heard.length, heard, 'it rests');
  },

  'two nodes: each event is told once, and a slow receiver holds up nobody else': async (
    t,
    { sql },
  ) => {
    const [slow, quick] = [await startReceiver(t), await startReceiver(t)];
    const { clientId } = await addTenant(sql, 'demo');
    const stuck = await makeWebhook(sql, clientId, slow.url);
    const webhooks = [
      await makeWebhook(sql, clientId, quick.url),
      await makeWebhook(sql, clientId, quick.url),
    ];
    slow.answer = () => null;
    for (const { id } of [stuck, ...webhooks]) await addEvents(sql, id, 1_700);
    const nodes = [webhookNode(sql), webhookNode(sql)];
    const runs = nodes.map((node) => node.run());
    await until('the others are told', () => (quick.events().length === 3_400 ? true : null));
    t.equal(slow.heard.length, 1, 'one request at a time, over both nodes');
    for (const { secret } of webhooks) {
      const own = quick.heard.filter((heard) => isSigned(heard, secret));
      t.same(numbersOf(own.flatMap(({ events }) => events)), upTo(1_700), 'in order');
    }
    await Promise.all(nodes.map((node) => node.stop()));
    await Promise.all(runs);
    const [row] =
      await sql`select not_before <= now() as "isFree" from webhooks where id = ${stuck.id}`;
    t.match(row, { isFree: true }, 'what was cut off is given back');
  },

  'a node that dies with a delivery under way: another one takes over': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    await addEvents(sql, id, 2);
    // It has claimed, and made the delivery, and is never heard of again.
    const [claimed] = await claimWebhooks(sql, 10, 60_000);
    t.equal(claimed?.id, id);
    const taken = await takeDelivery(sql, id, NEW_ID, { eventsMax: 10, bytesMax: 1_000 });
    t.match(taken, { id: NEW_ID, eventCount: 2 });
    await addEvents(sql, id, 1);
    await webhookNode(sql).run();
    t.equal(receiver.heard.length, 0, 'not before the lease has ended');
    await sql`update webhooks set not_before = now()`;
    await webhookNode(sql).run();
    t.same(
      receiver.heard.map(({ id, events }) => [id === NEW_ID, events.length]),
      [
        [true, 2],
        [false, 1],
      ],
    );
  },

  'while a secret is replaced, both sign': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id, secret: old } = await makeWebhook(sql, clientId, receiver.url);
    const fresh = makeWebhookSecret();
    const tell = async () => {
      await addEvents(sql, id, 1);
      await webhookNode(sql).run();
      const heard = receiver.heard.at(-1);
      if (heard === undefined) throw new Error('nothing was heard');
      return [isSigned(heard, old), isSigned(heard, fresh)];
    };
    await replaceSecret(sql, id, sealWebhookSecret(secrets, id, fresh), 1);
    t.same(await tell(), [true, true]);
    await sql`update webhooks set previous_until = now()`;
    t.same(await tell(), [false, true]);
    const again = sealWebhookSecret(secrets, id, old);
    await replaceSecret(sql, id, again, 0);
    t.same(await tell(), [true, false], 'without a grace');
  },

  'a secret of another SECRET_KEY: nothing is sent, and the delivery says why': async (
    t,
    { sql },
  ) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const { id } = await makeWebhook(sql, clientId, receiver.url);
    await addEvents(sql, id, 1);
    const foreign = createSecrets('another secret of the tests, long enough');
    await webhookNode(sql, { secrets: foreign, attemptsMax: 1 }).run();
    t.equal(receiver.heard.length, 0);
    t.match(await listDeliveries(sql, id, ALL), [{ state: 'dead', fault: /SECRET_KEY/ }]);
  },

  'deleted or turned off meanwhile: nothing is sent': async (t, { sql }) => {
    const receiver = await startReceiver(t);
    const { clientId } = await addTenant(sql, 'demo');
    const off = await makeWebhook(sql, clientId, receiver.url);
    await addEvents(sql, off.id, 1);
    await sql`update webhooks set is_enabled = false`;
    const gone = await makeWebhook(sql, clientId, receiver.url);
    await addEvents(sql, gone.id, 1);
    await sql`delete from webhooks where id = ${gone.id}`;
    await webhookNode(sql).run();
    t.equal(receiver.heard.length, 0);
    const size = { eventsMax: 10, bytesMax: 1_000 };
    t.equal(await takeDelivery(sql, gone.id, NEW_ID, size), null);
  },
});
