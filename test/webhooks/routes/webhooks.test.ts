/** Webhooks by the Admin API: made, listed, changed, replayed, deleted; and only one's own. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { webhookDeliveryRoutes } from '../../../src/webhooks/routes/webhook-deliveries.ts';
import { webhookRoutes } from '../../../src/webhooks/routes/webhooks.ts';
import type { Tenant } from '../../support/api.ts';
import { addTenant, bearer, secrets, startApiOn } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { isSigned, startReceiver } from '../../support/webhook-receiver.ts';
import { addEvents, webhookNode } from '../../support/webhooks.ts';

const URL = 'https://cms.example/hook';

async function open(t: Test, store: Store, arePrivateWebhooksAllowed = false) {
  const { sql } = store;
  const [demo, other] = [await addTenant(sql, 'demo'), await addTenant(sql, 'other')];
  const { baseUrl } = await startApiOn(t, store, [
    ...webhookRoutes({ sql, secrets, arePrivateWebhooksAllowed }),
    ...webhookDeliveryRoutes(sql),
  ]);
  const asker =
    ({ slug, superUser }: Tenant) =>
    async (method: string, path = '', body?: unknown) => {
      const answer = await fetch(`${baseUrl}/push-admin-api/v3/${slug}/webhooks${path}`, {
        method,
        headers: { Authorization: bearer(superUser) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return {
        status: answer.status,
        headers: answer.headers,
        body: text === '' ? null : JSON.parse(text),
      };
    };
  return { ask: asker(demo), asOther: asker(other) };
}

await onEachStore(t, {
  'made with a secret that is shown once, changed, rotated, deleted': async (t, store) => {
    const { ask } = await open(t, store);
    const made = await ask('POST', '', { url: URL, eventTypes: ['token.removed', 'job.finished'] });
    t.equal(made.status, 201);
    t.equal(made.headers.get('cache-control'), 'no-store');
    const { secret, ...webhook } = made.body;
    t.match(secret, /^whsec_/);
    t.match(webhook, {
      url: URL,
      eventTypes: ['job.finished', 'token.removed'],
      isEnabled: true,
      failures: 0,
      droppedEvents: 0,
      createdAt: Number,
    });
    const rows = JSON.stringify(await store.sql`select * from webhooks`);
    t.notOk(rows.includes(secret), 'not in the open');
    t.same((await ask('GET')).body, [webhook]);
    const path = `/${webhook.id}`;
    t.same((await ask('GET', path)).body, webhook);

    const off = { ...webhook, isEnabled: false };
    t.same((await ask('PATCH', path, { isEnabled: false })).body, off);
    const url = 'https://xn--mnchen-3ya.example:8443/hook';
    const moved = await ask('PATCH', path, { url: 'https://MÜNCHEN.example:8443/hook' });
    t.same(moved.body, { ...off, url });
    const rotated = await ask('POST', `${path}/rotate`, { graceHours: 1 });
    t.match(rotated.body.secret, /^whsec_/);
    t.not(rotated.body.secret, secret);
    const all = await ask('POST', '', { url: URL });
    t.equal(all.body.eventTypes.length, 5, 'every type');

    t.equal((await ask('DELETE', path)).status, 204);
    t.equal((await ask('DELETE', path)).status, 404);
    t.match((await ask('GET')).body, [{ id: all.body.id }]);
  },

  'what is refused': async (t, store) => {
    const { ask } = await open(t, store);
    const wrong: readonly (readonly [body: unknown, path: string, message: RegExp])[] = [
      [{}, 'url', /is missing/],
      [{ url: 'http://cms.example/' }, 'url', /https:/],
      [{ url: 'https://10.0.0.1/' }, 'url', /WEBHOOK_PRIVATE_ADDRESSES/],
      [{ url: URL, eventTypes: [] }, 'eventTypes', /job\.finished/],
      [{ url: URL, eventTypes: ['job.started'] }, 'eventTypes.0', /job\.finished/],
      [{ url: URL, isEnabled: 'yes' }, 'isEnabled', /true or false/],
      [{ url: URL, secret: 'whsec_mine' }, 'secret', /is unknown/],
    ];
    for (const [body, path, message] of wrong) {
      const { status, body: problem } = await ask('POST', '', body);
      t.equal(status, 400);
      t.match(problem.errors, [{ path, message }], JSON.stringify(body));
    }
    t.same((await ask('GET')).body, []);
    const { id } = (await ask('POST', '', { url: URL })).body;
    t.match((await ask('PATCH', `/${id}`, { url: 'https://127.0.0.1/' })).body.errors, [
      { path: 'url' },
    ]);
    t.equal((await ask('POST', `/${id}/rotate`, { graceHours: 169 })).status, 400);
    for (const body of [{}, { ids: [], state: 'dead' }, { ids: ['x'] }, { state: 'pending' }]) {
      t.equal((await ask('POST', `/${id}/deliveries/replay`, body)).status, 400);
    }
    for (let count = 1; count < 20; count += 1) await ask('POST', '', { url: URL });
    const { status, body } = await ask('POST', '', { url: URL });
    t.equal(status, 403);
    t.match(body.detail, /20 webhooks/);
  },

  'deliveries, page by page, and replay': async (t, store) => {
    const { sql } = store;
    const { ask } = await open(t, store, true);
    const receiver = await startReceiver(t);
    receiver.answer = () => 500;
    const { id, secret } = (await ask('POST', '', { url: receiver.url })).body;
    const node = webhookNode(sql, { attemptsMax: 1 });
    for (let count = 0; count < 3; count += 1) {
      await addEvents(sql, id, 1);
      await node.run();
    }
    const path = `/${id}/deliveries`;
    const { body: all } = await ask('GET', path);
    t.same(
      all.map((delivery: { readonly id: string }) => delivery.id),
      receiver.heard.map((heard) => heard.id).reverse(),
    );
    t.match(all[0], { state: 'dead', attempts: 1, eventCount: 1, status: 500 });
    t.notOk('nextAttemptAt' in all[0]);
    t.equal((await ask('GET', `/${id}`)).body.failures, 3);
    const first = await ask('GET', `${path}?limit=2&state=dead`);
    t.same(first.body, all.slice(0, 2));
    const next = /cursor=([^&>]+)/.exec(first.headers.get('link') ?? '')?.[1];
    t.same((await ask('GET', `${path}?limit=2&state=dead&cursor=${next}`)).body, all.slice(2));
    t.same((await ask('GET', `${path}?state=delivered`)).body, []);
    t.equal((await ask('GET', `${path}?cursor=1`)).status, 400);

    receiver.answer = () => 204;
    const one = { ids: [all[1].id, '01979c5e-8b5a-7d1e-9f5b-0d5f3c1c9a77'] };
    t.same((await ask('POST', `${path}/replay`, one)).body, { replayed: 1 });
    await node.run();
    t.equal(receiver.heard.at(-1)?.id, all[1].id);
    t.same((await ask('POST', `${path}/replay`, { state: 'dead' })).body, { replayed: 2 });
    await node.run();
    t.equal(receiver.heard.length, 6);
    t.ok(receiver.heard.every((heard) => isSigned(heard, secret)));
    t.match((await ask('GET', path)).body, [
      { state: 'delivered' },
      { state: 'delivered' },
      { state: 'delivered' },
    ]);
  },

  'turned off by its receiver, and on again by its owner': async (t, store) => {
    const { ask } = await open(t, store, true);
    const receiver = await startReceiver(t);
    receiver.answer = () => 410;
    const { id } = (await ask('POST', '', { url: receiver.url })).body;
    await addEvents(store.sql, id, 1);
    await webhookNode(store.sql).run();
    const off = { isEnabled: false, goneAt: Number, failures: 1 };
    t.match((await ask('GET', `/${id}`)).body, off);
    t.match((await ask('GET')).body, [off]);
    const { body: on } = await ask('PATCH', `/${id}`, { isEnabled: true });
    t.match(on, { isEnabled: true, failures: 0 });
    t.notOk('goneAt' in on);
  },

  "another client's webhook is not there": async (t, store) => {
    const { ask, asOther } = await open(t, store);
    const { id } = (await ask('POST', '', { url: URL })).body;
    const foreign: readonly (readonly [method: string, path: string, body?: unknown])[] = [
      ['GET', ''],
      ['PATCH', '', { isEnabled: false }],
      ['POST', '/rotate', { graceHours: 0 }],
      ['GET', '/deliveries'],
      ['POST', '/deliveries/replay', { state: 'dead' }],
      ['DELETE', ''],
    ];
    for (const [method, path, body] of foreign) {
      t.equal((await asOther(method, `/${id}${path}`, body)).status, 404, `${method} ${path}`);
    }
    t.same((await asOther('GET')).body, []);
    t.match((await ask('GET', `/${id}`)).body, { isEnabled: true });
  },
});
