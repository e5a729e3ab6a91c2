/** A push in the place of a job that has not begun, over HTTP and on both stores. */

import type { Test } from 'tap';
import t from 'tap';
import type { Sql } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import type { JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgresStore } from '../../support/store.ts';
import { untilLockWaits } from '../../support/until-lock-waits.ts';

const HOUR_MS = 3_600_000;

interface Scene {
  readonly api: JobsApi;
  /** A scheduled job that an hour parts from its time. */
  readonly id: string;
  replace(more?: object, headers?: object, token?: string): ReturnType<JobsApi['call']>;
}

async function startScene(t: Test, store: Store, slug: string): Promise<Scene> {
  const api = await startJobsApi(t, store, slug);
  const { appId, tagId } = api.tenant;
  await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 10 });
  const id = await api.push({ sendAt: Date.now() + HOUR_MS });
  const replace: Scene['replace'] = (more = {}, headers = {}, token) => {
    const body = { tagIds: [tagId], payload: { title: 'corrected' }, ...more };
    return api.call('POST', `/${id}/replace`, body, token, headers);
  };
  return { api, id, replace };
}

const jobsIn = (sql: Sql) =>
  sql<{ id: string; state: string }[]>`select id, state from notifications order by id`;

const isDueNow = (sql: Sql, id: string) =>
  sql`update notifications set send_at = now() where id = ${id}::uuid`;

await onEachStore(t, {
  async 'a scheduled one is cancelled, and the push takes its place'(t, store) {
    const { api, id, replace } = await startScene(t, store, 'swapped');
    const sendAt = Date.now() + 2 * HOUR_MS;
    const answer = await replace({ sendAt });
    t.match(answer, { status: 202, body: { state: 'SCHEDULED', unknownTags: [] } });
    const after = answer.body.id as string;
    t.match(answer.headers.get('location'), after);
    t.match((await api.call('GET', `/${id}`)).body, {
      state: 'CANCELLED',
      totalCount: 0,
      finishedAt: Number,
    });
    const shown = { state: 'SCHEDULED', sendAt, payload: { title: 'corrected' } };
    t.match((await api.call('GET', `/${after}`)).body, shown);
    const audit = await store.sql`
      select action, object_id, detail from audit_entries where action like 'notification.%'`;
    const entry = { action: 'notification.replace', object_id: id, detail: { by: after } };
    t.match(audit, [entry]);
    t.match(await replace(), { status: 409, body: { detail: /CANCELLED.*cannot be replaced/ } });
    t.equal((await jobsIn(store.sql)).length, 2, 'the second one made nothing');
  },

  async 'one that was paused stays paused'(t, store) {
    const { api, id, replace } = await startScene(t, store, 'paused');
    await api.call('POST', `/${id}/pause`);
    const answer = await replace();
    t.match(answer, { status: 202, body: { state: 'PAUSED' } });
    t.same(await planDue(store.sql), []);
    await api.call('POST', `/${answer.body.id}/resume`);
    t.match(await planDue(store.sql), [{ id: answer.body.id }]);
  },

  async 'nothing is changed by what is refused, and by a dry run'(t, store) {
    const { api, id, replace } = await startScene(t, store, 'refused');
    t.equal((await replace({ payload: {} })).status, 400);
    t.equal((await replace({ excludeTagIds: [999_999] })).status, 400);
    t.equal((await replace({ tags: [1] })).status, 400);
    t.match(await replace({ dryRun: true }), { status: 200, body: { dryRun: true } });
    const nowhere = '0190163d-8694-7e9b-a36c-97dcd5bd2ba9';
    const push = { tagIds: [api.tenant.tagId], payload: { title: 'x' } };
    t.equal((await api.call('POST', `/${nowhere}/replace`, push)).status, 404);
    t.equal((await api.call('POST', '/no-id/replace', push)).status, 404);
    t.match(await jobsIn(store.sql), [{ id, state: 'SCHEDULED' }]);
  },

  async 'a repeated request with its idempotency key is answered with the first job'(t, store) {
    const { api, replace } = await startScene(t, store, 'repeated');
    const key = { 'idempotency-key': 'correction' };
    const [first, second] = await Promise.all([replace({}, key), replace({}, key)]);
    t.equal(first.status, 202);
    t.equal(second.status, 202);
    t.equal(second.body.id, first.body.id);
    t.equal((await replace({}, key)).body.id, first.body.id);
    t.equal((await replace({ payload: { title: 'other' } }, key)).status, 422);
    t.equal((await jobsIn(store.sql)).length, 2);
    const other = await api.push({ sendAt: Date.now() + HOUR_MS });
    const body = { tagIds: [api.tenant.tagId], payload: { title: 'corrected' } };
    const elsewhere = await api.call('POST', `/${other}/replace`, body, undefined, key);
    t.equal(elsewhere.status, 422, 'the key is for the job that it replaced');
    t.equal((await api.call('GET', `/${other}`)).body.state, 'SCHEDULED');
  },

  async 'a limited key replaces its own, within its limits'(t, store) {
    const { api, id, replace } = await startScene(t, store, 'limited');
    const { clientId, tagId } = api.tenant;
    const other = await makeTag(store.sql, clientId, { sourceId: 'sport' });
    const key = await api.key({ scopes: ['send'], tagIds: [tagId] });
    t.equal((await replace({}, {}, key)).status, 404, 'another publisher’s');
    const own = await api.push({ sendAt: Date.now() + HOUR_MS }, key);
    const call = (body: object, token = key) => api.call('POST', `/${own}/replace`, body, token);
    const payload = { title: 'corrected' };
    t.equal((await call({ tagIds: [other], payload })).status, 403, 'a tag that is not its own');
    const few = await api.key({ scopes: ['send'], maxDevices: 3 });
    t.equal((await call({ tagIds: [tagId], payload }, few)).status, 403, 'too many devices');
    const reader = await api.key({ scopes: ['read'] });
    t.equal((await call({ tagIds: [tagId], payload }, reader)).status, 403);
    t.match(await jobsIn(store.sql), [
      { id, state: 'SCHEDULED' },
      { id: own, state: 'SCHEDULED' },
    ]);
    t.equal((await call({ tagIds: [tagId], payload })).status, 202);
  },

  async 'against the moment of sending: the old one or the new one, never both'(t, store) {
    const { api } = await startScene(t, store, 'raced');
    const { sql } = store;
    const body = { tagIds: [api.tenant.tagId], payload: { title: 'corrected' } };
    for (let round = 0; round < 20; round += 1) {
      const id = await api.push({ sendAt: Date.now() + HOUR_MS });
      await isDueNow(sql, id);
      const [planned, answer] = await Promise.all([
        planDue(sql),
        api.call('POST', `/${id}/replace`, { ...body, sendAt: Date.now() + HOUR_MS }),
      ]);
      const isSent = planned.some((one) => one.id === id);
      t.equal(answer.status, isSent ? 409 : 202);
      const state = (await api.call('GET', `/${id}`)).body.state;
      t.equal(state, isSent ? 'RUNNING' : 'CANCELLED');
      t.same(await planDue(sql), [], 'what was replaced is not planned');
    }
  },
});

t.test('in both orders, at the lock', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const { id, replace } = await startScene(t, store, 'ordered');
    await isDueNow(sql, id);
    const { late } = await sql.begin(async (tx) => {
      t.match(await planDue(tx), [{ id }]);
      const late = replace();
      await untilLockWaits('the replacement waits for the planner', sql);
      return { late };
    });
    t.match(await late, { status: 409, body: { detail: /RUNNING/ } });
    t.match(await jobsIn(sql), [{ id, state: 'RUNNING' }]);
  }),
);

t.test('before its commit a killed one has changed nothing, and a planner waits for none', (t) =>
  withPostgresStore(t, async (t, store) => {
    const { sql } = store;
    const { id, replace } = await startScene(t, store, 'killed');
    await isDueNow(sql, id);
    const { cut } = await sql.begin(async (tx) => {
      // The audit log's entry is the last thing that it writes.
      await tx`lock table audit_entries in exclusive mode`;
      const cut = replace();
      await untilLockWaits('it has written all but its entry', sql);
      t.same(await planDue(sql), [], 'the planner leaves out what is being replaced');
      await tx`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return { cut };
    });
    t.ok((await cut).status >= 500);
    t.match(await jobsIn(sql), [{ id, state: 'SCHEDULED' }], 'nothing was changed');
    t.equal((await replace({ sendAt: Date.now() + HOUR_MS })).status, 202);
    t.same(await planDue(sql), []);
  }),
);
