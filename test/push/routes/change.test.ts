/** Changes of a push job, over HTTP and on both stores. */

import t from 'tap';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const HOUR_MS = 3_600_000;

await onEachStore(t, {
  async 'a scheduled one gets another time, and another end'(t, store) {
    const api = await startJobsApi(t, store, 'moved');
    const nowMs = Date.now();
    const id = await api.push({ sendAt: nowMs + HOUR_MS, expiresAt: nowMs + 2 * HOUR_MS });
    const change = (body: unknown) => api.call('PATCH', `/${id}`, body);
    const later = await change({ sendAt: nowMs + 3 * HOUR_MS, expiresAt: nowMs + 4 * HOUR_MS });
    t.equal(later.status, 200);
    const expected = {
      id,
      state: 'SCHEDULED',
      sendAt: nowMs + 3 * HOUR_MS,
      expiresAt: nowMs + 4 * HOUR_MS,
      priority: 'normal',
    };
    t.strictSame(later.body, expected);
    t.match((await api.call('GET', `/${id}`)).body, expected);
    t.strictSame((await change({})).body, expected, 'nothing asked, nothing changed');
    t.match(await change({ sendAt: nowMs + 5 * HOUR_MS }), {
      status: 400,
      body: { errors: [{ path: 'sendAt', message: /later than sendAt/ }] },
    });
    t.match(await change({ expiresAt: nowMs + 2 * HOUR_MS }), {
      status: 400,
      body: { errors: [{ path: 'expiresAt' }] },
    });
    t.match((await api.call('GET', `/${id}`)).body, expected, 'what is refused changes nothing');
    t.notOk('expiresAt' in (await change({ expiresAt: null })).body, 'null takes the end away');
    await api.call('POST', `/${id}/pause`);
    t.match(await change({ sendAt: nowMs + 6 * HOUR_MS }), { body: { state: 'PAUSED' } });
    await api.call('POST', `/${id}/resume`);
    t.same(await planDue(store.sql), []);
    const atOnce = await change({ sendAt: new Date(nowMs - HOUR_MS).toISOString() });
    t.equal(atOnce.status, 200);
    t.ok(atOnce.body.sendAt >= nowMs - 60_000, 'never before it was asked for');
    t.match(await planDue(store.sql), [{ id }], 'it is due now');
  },

  async 'it goes out so many seconds from now, and can be put back until then'(t, store) {
    const api = await startJobsApi(t, store, 'hastened');
    const sendAt = Date.now() + HOUR_MS;
    const id = await api.push({ sendAt });
    const change = (body: unknown) => api.call('PATCH', `/${id}`, body);
    const soon = await change({ holdSeconds: 10 });
    t.equal(soon.status, 200);
    const [row] = await store.sql`
      select extract(epoch from send_at - now())::float8 as seconds from notifications where id = ${id}`;
    t.ok(row?.['seconds'] > 5 && row?.['seconds'] <= 10, `${row?.['seconds']} s by its own clock`);
    t.match((await change({ sendAt })).body, { state: 'SCHEDULED', sendAt }, 'taken back');
    for (const body of [{ holdSeconds: 10, sendAt }, { holdSeconds: 0 }, { holdSeconds: 3_601 }]) {
      t.match(await change(body), { status: 400, body: { errors: [{ path: 'holdSeconds' }] } });
    }
  },

  async 'another priority, also while it runs'(t, store) {
    const api = await startJobsApi(t, store, 'hurry');
    const id = await api.push({ priority: 'urgent' });
    const change = (body: unknown) => api.call('PATCH', `/${id}`, body);
    const isUrgent = async () =>
      (await store.sql`select urgent from notifications where id = ${id}`)[0]?.['urgent'];
    t.equal(await isUrgent(), true);
    t.match((await api.call('GET', `/${id}`)).body, { priority: 'urgent' });
    await store.sql`update notifications set state = 'RUNNING' where id = ${id}`;
    t.match((await change({ priority: 'normal' })).body, { state: 'RUNNING', priority: 'normal' });
    t.equal(await isUrgent(), false);
    t.match((await change({ priority: 'urgent' })).body, { priority: 'urgent' });
    t.match((await change({ expiresAt: null })).body, { priority: 'urgent' }, 'it stays');
    t.match((await api.call('GET', `/${id}`)).body, { priority: 'urgent' });
    const legacy = await api.call('POST', '/push-api/push', {
      tagIds: [api.tenant.tagId],
      payload: { title: 'goal!' },
      priority: 'urgent',
    });
    t.match((await api.call('GET', `/${legacy.body}`)).body, { priority: 'urgent' });
  },

  async 'another rate, also while it runs'(t, store) {
    const api = await startJobsApi(t, store, 'paced');
    const asked = { tagIds: [api.tenant.tagId], payload: { title: 'goal!' } };
    const id = await api.push({ ratePerSecond: 1_000_000 });
    const change = (body: unknown) => api.call('PATCH', `/${id}`, body);
    t.match((await api.call('GET', `/${id}`)).body, { ratePerSecond: 1_000_000 });
    await store.sql`update notifications set state = 'RUNNING' where id = ${id}`;
    t.match((await change({ ratePerSecond: '1' })).body, { state: 'RUNNING', ratePerSecond: 1 });
    t.match((await change({ priority: 'normal' })).body, { ratePerSecond: 1 }, 'it stays');
    t.match((await api.call('GET', `/${id}`)).body, { ratePerSecond: 1 });
    t.notOk('ratePerSecond' in (await change({ ratePerSecond: null })).body, 'null: no limit');
    t.notOk('ratePerSecond' in (await api.call('GET', `/${id}`)).body);
    const legacy = await api.call('POST', '/push-api/push', { ...asked, ratePerSecond: 500 });
    t.match((await api.call('GET', `/${legacy.body}`)).body, { ratePerSecond: 500 });
    for (const ratePerSecond of [0, -1, 1.5, 1_000_001, '1e3', 'x', true, [], {}]) {
      const field = { path: 'ratePerSecond', message: /whole number from 1 to 1000000/ };
      const refused = { status: 400, body: { errors: [field] } };
      t.match(await api.call('POST', '', { ...asked, ratePerSecond }), refused);
      t.match(await change({ ratePerSecond }), refused);
    }
  },

  async 'too late: the state is told, and nothing changes'(t, store) {
    const api = await startJobsApi(t, store, 'late');
    const nowMs = Date.now();
    const id = await api.push();
    const change = (body: unknown) => api.call('PATCH', `/${id}`, body);
    t.match(await change({ sendAt: nowMs + HOUR_MS }), {
      status: 409,
      body: { detail: /QUEUED.*sendAt/ },
    });
    t.match(await change({ expiresAt: nowMs + HOUR_MS }), {
      status: 200,
      body: { expiresAt: nowMs + HOUR_MS },
    });
    await api.call('POST', `/${id}/cancel`);
    t.match(await change({ expiresAt: nowMs + 2 * HOUR_MS }), {
      status: 409,
      body: { detail: /CANCELLED/ },
    });
    t.match((await api.call('GET', `/${id}`)).body, { expiresAt: nowMs + HOUR_MS });
  },

  async 'what is not valid is told field by field; whose job it is not finds none'(t, store) {
    const api = await startJobsApi(t, store, 'fields');
    const stranger = await startJobsApi(t, store, 'fields-of-others');
    const id = await api.push();
    const faults = async (body: unknown) => {
      const answer = await api.call('PATCH', `/${id}`, body);
      t.equal(answer.status, 400, JSON.stringify(body));
      return answer.body.errors;
    };
    t.match(await faults({ ratePerSecond: 0, priority: 'high' }), [
      { path: 'priority', message: /normal or urgent/ },
      { path: 'ratePerSecond', message: /from 1 to 1000000/ },
    ]);
    t.match(await faults({ expires: 1 }), [{ path: 'expires', message: /nearest is expiresAt/ }]);
    t.match(await faults({ sendAt: null, expiresAt: 1_700_000_000 }), [
      { path: 'expiresAt', message: /seconds/ },
      { path: 'sendAt' },
    ]);
    t.match(await faults({ expiresAt: Date.now() - HOUR_MS }), [{ message: /past/ }]);
    t.match(await faults([]), [{ message: /JSON object/ }]);
    t.equal((await stranger.call('PATCH', `/${id}`, {})).status, 404);
    const limited = await api.key({ scopes: ['send'], tagIds: [api.tenant.tagId] });
    t.equal((await api.call('PATCH', `/${id}`, {}, limited)).status, 404);
  },
});
