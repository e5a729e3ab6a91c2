/** The events of a push job, over HTTP: who may listen, what there is to hear, and what ends it. */

import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { JobWatches } from '../../../src/push/routes/watches.ts';
import { readEvents } from '../../support/event-stream.ts';
import { seed } from '../../support/fan-out-pushes.ts';
import type { JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { pageOf } from '../../support/page.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';

const DEVICES = 400;
const REFUSED = 3;

const eventsUrl = ({ baseUrl, tenant }: JobsApi, id: string): string =>
  `${baseUrl}/push-api/v3/${tenant.slug}/notifications/${id}/events`;

const readsOf = ({ patientReads }: Store) => ({ patientReads, reachRetentionDays: 7 });

await onEachStore(t, {
  async 'a send is seen to its end, with the reasons of its failures'(t, store) {
    const simulator = await freshSimulator();
    await behave(simulator, { latencyMs: 300 });
    const fanOut = await fanOutFor(t, store, simulator);
    const api = await startJobsApi(t, store, 'sends', {
      accept: fanOut.accept,
      watches: new JobWatches(readsOf(store), { pollIntervalMs: 50 }),
    });
    const { tagId, appId, clientId, superUser } = api.tenant;
    await seed(store, { tagId, appId, clientId }, { 3: DEVICES, 15: 2 });
    const refused = await store.sql<{ token: string }[]>`
      select device_id as token from devices where platform_id = 3 limit ${REFUSED}`;
    for (const { token } of refused) {
      const body = JSON.stringify({ status: 400, reason: 'BadDeviceToken' });
      const url = `${simulator.controlUrl}/tokens/apns/${token}`;
      await (await fetch(url, { method: 'PUT', body })).text();
    }
    // Not due, so that both listen from the start.
    const id = await api.push({ sendAt: Date.now() + 3_600_000 });
    const reader = await readEvents(eventsUrl(api, id), superUser.token);
    const other = await readEvents(eventsUrl(api, id), superUser.token);
    t.match((await reader.find('a snapshot', () => true)).data, { id, state: 'SCHEDULED' });
    await api.call('PATCH', `/${id}`, { sendAt: Date.now() });
    t.equal(await reader.ended, 'whole');
    const ended = reader.events.at(-1);
    const last = reader.events.at(-2);
    t.same(ended, { name: 'end', data: { state: 'FINISHED' } });
    t.match(last, {
      name: 'progress',
      data: {
        id,
        state: 'FINISHED',
        totalCount: DEVICES + 2,
        successCount: DEVICES + 2 - REFUSED,
        failedCount: REFUSED,
        failureReasons: { BadDeviceToken: REFUSED },
        acceptedAt: Number,
        firstSendAt: Number,
        lastSendAt: Number,
        devicesPerSecond: Number,
        platforms: [
          { platformId: 3, totalCount: DEVICES, failureReasons: { BadDeviceToken: REFUSED } },
          { platformId: 15, totalCount: 2, successCount: 2 },
        ],
      },
    });
    t.strictSame(last?.data, (await api.call('GET', `/${id}`)).body, 'it is what GET answers');
    const counts = reader.events.slice(0, -1).map(({ data }) => data.successCount);
    t.same(
      counts,
      [...counts].sort((one, other) => one - other),
      'counts only grow',
    );
    t.ok(
      reader.events.some(({ data }) => data.state === 'RUNNING'),
      'it was seen while it ran',
    );
    t.equal(await other.ended, 'whole');
    t.strictSame(other.events.at(-2), last, 'both heard the same');
  },

  async 'the head, for browsers and proxies; what a reconnecting caller sends is harmless'(
    t,
    store,
  ) {
    const api = await startJobsApi(t, store, 'heads');
    const id = await api.push();
    await store.sql`
      update notifications set state = 'FINISHED', finished_at = now() where id = ${id}::uuid`;
    const { token } = api.tenant.superUser;
    const reader = await readEvents(eventsUrl(api, id), token, {
      Accept: 'text/event-stream',
      'Last-Event-ID': '\u00e4 17',
      Origin: 'https://console.example',
    });
    t.match(Object.fromEntries(reader.headers), {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
      'transfer-encoding': 'chunked',
      'x-request-id': String,
    });
    t.equal(await reader.ended, 'whole');
    t.same(
      reader.events.map(({ name }) => name),
      ['progress', 'end'],
    );
    const fetchAsPage = pageOf('https://console.example');
    const answer = await fetchAsPage(eventsUrl(api, id), 'GET', {
      Authorization: `Bearer ${token}`,
      'Last-Event-ID': '1',
    });
    t.match(await answer.text(), /event: end\n/);
    const method = 'HEAD';
    t.equal((await fetch(eventsUrl(api, id), { method })).status, 401);
    const headers = { Authorization: `Bearer ${token}` };
    const head = await fetch(eventsUrl(api, id), { method, headers });
    t.match([head.status, head.headers.get('content-type')], [200, 'text/event-stream']);
    t.equal(await head.text(), '', 'it begins no stream');
  },

  async 'what is no job is 404, and so is that of another publisher for a limited key'(t, store) {
    const api = await startJobsApi(t, store, 'limits');
    const { clientId, tagId, superUser } = api.tenant;
    for (const id of ['x', '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52']) {
      t.equal((await readEvents(eventsUrl(api, id), superUser.token)).status, 404);
    }
    const own = await makeTag(store.sql, clientId, { sourceId: 'own' });
    const key = await api.key({ scopes: ['send', 'read'], tagIds: [own] });
    const theirs = await api.push({ tagIds: [tagId] });
    const ours = await api.push({ tagIds: [own] }, key);
    t.equal((await readEvents(eventsUrl(api, theirs), key)).status, 404);
    const reader = await readEvents(eventsUrl(api, ours), key);
    t.equal(reader.status, 200);
    t.match((await reader.find('a snapshot', () => true)).data, { id: ours });
    reader.leave();
  },

  async 'a key that is deleted hears nothing more; the others do'(t, store) {
    const api = await startJobsApi(t, store, 'revokes');
    const id = await api.push();
    const key = await api.key({ scopes: ['read'] });
    const revoked = await readEvents(eventsUrl(api, id), key);
    const other = await readEvents(eventsUrl(api, id), api.tenant.superUser.token);
    await revoked.find('a snapshot', () => true);
    await store.sql`delete from client_keys`;
    t.equal(await revoked.ended, 'whole');
    t.equal((await readEvents(eventsUrl(api, id), key)).status, 401);
    await store.sql`
      update notifications set state = 'CANCELLED', finished_at = now() where id = ${id}::uuid`;
    t.equal(await other.ended, 'whole');
    t.same(other.events.at(-1), { name: 'end', data: { state: 'CANCELLED' } });
  },

  async 'more listeners than there is room for'(t, store) {
    const watches = new JobWatches(readsOf(store), { ofClientMax: 1, listenersMax: 2 });
    const api = await startJobsApi(t, store, 'full', { watches });
    const id = await api.push();
    const { token } = api.tenant.superUser;
    const first = await readEvents(eventsUrl(api, id), token);
    const second = await readEvents(eventsUrl(api, id), token);
    t.match([second.status, second.headers.get('retry-after')], [429, /^\d+$/]);
    first.leave();
    await until('its place is free', async () => {
      const again = await readEvents(eventsUrl(api, id), token);
      again.leave();
      return again.status === 200 ? true : null;
    });
    const none = new JobWatches(readsOf(store), { listenersMax: 0 });
    const fullApi = await startJobsApi(t, store, 'nobody', { watches: none });
    const url = eventsUrl(fullApi, await fullApi.push());
    t.equal((await readEvents(url, fullApi.tenant.superUser.token)).status, 503);
  },

  async 'a server that closes ends the stream'(t, store) {
    const api = await startJobsApi(t, store, 'closes');
    const reader = await readEvents(eventsUrl(api, await api.push()), api.tenant.superUser.token);
    await reader.find('a snapshot', () => true);
    await api.server.close();
    t.equal(await reader.ended, 'whole');
    t.same(
      reader.events.map(({ name }) => name),
      ['progress'],
      'it has not ended, so no end is told',
    );
  },
});
