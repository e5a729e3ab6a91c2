/**
 * Orders on a push job in each state, over HTTP and on both stores: nothing sends here. Orders on a
 * running send are in push/fan-out/control.test.ts and end-to-end/control.long.ts.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { finishStranded } from '../../../src/push/sql/ledger/finish-stranded.ts';
import { listClaimable } from '../../../src/push/sql/ledger/list-claimable.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import type { EndedJob } from '../../../src/telemetry/job-journal.ts';
import type { JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { claimChunksOf, claimRetriesOf } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

type Order = 'cancel' | 'pause' | 'resume';
const ORDERS: readonly Order[] = ['cancel', 'pause', 'resume'];
const LEASE_MS = 60_000;

const order = (api: JobsApi, id: string, what: Order, token?: string) =>
  api.call('POST', `/${id}/${what}`, undefined, token);

const stateOf = async (api: JobsApi, id: string): Promise<string> =>
  (await api.call('GET', `/${id}`)).body.state;

/** The order, and the state after it. */
async function steps(
  t: Test,
  api: JobsApi,
  id: string,
  expected: readonly (readonly [Order, string])[],
): Promise<void> {
  for (const [what, state] of expected) {
    const answer = await order(api, id, what);
    t.equal(answer.status, 200, `${what} → ${state}`);
    t.strictSame(answer.body, { id, state });
    t.equal(await stateOf(api, id), state);
  }
}

/** Which orders come too late in a state. */
async function refusals(
  t: Test,
  api: JobsApi,
  id: string,
  state: string,
  orders: readonly Order[],
): Promise<void> {
  for (const what of orders) {
    const answer = await order(api, id, what);
    t.equal(answer.status, 409, `${what} of ${state}`);
    t.match(answer.body.detail, new RegExp(`\\b${state}\\b`), 'the state is told');
    t.equal(await stateOf(api, id), state);
  }
}

async function startSeeded(t: Test, store: Store, slug: string): Promise<JobsApi> {
  const api = await startJobsApi(t, store, slug);
  const { appId, tagId } = api.tenant;
  await seedDevices(store.sql, { appId, platformId: 3, tagIds: [tagId], count: 10 });
  return api;
}

const HOUR_MS = 3_600_000;

await onEachStore(t, {
  async 'a scheduled one waits when it is paused, and is sent when it is resumed'(t, store) {
    const api = await startSeeded(t, store, 'scheduled');
    const { sql } = store;
    const id = await api.push({ sendAt: Date.now() + HOUR_MS });
    await steps(t, api, id, [
      ['resume', 'SCHEDULED'],
      ['pause', 'PAUSED'],
      ['pause', 'PAUSED'],
      ['resume', 'SCHEDULED'],
      ['pause', 'PAUSED'],
    ]);
    await sql`update notifications set send_at = now() - interval '1 second' where id = ${id}::uuid`;
    t.same(await planDue(sql), [], 'its time comes and it stays');
    t.same(await finishStranded(sql, 10), [], 'nor is it taken for done');
    await sql`update notifications set send_at = accepted_at + interval '1 ms' where id = ${id}::uuid`;
    await steps(t, api, id, [['resume', 'SCHEDULED']]);
    t.match(await planDue(sql), [{ id, isScheduled: true }]);
    t.equal(await stateOf(api, id), 'RUNNING');
  },

  async 'one of the moment that is not planned: paused, resumed, cancelled'(t, store) {
    const api = await startSeeded(t, store, 'queued');
    const { sql } = store;
    const [id, other] = [await api.push(), await api.push()];
    await steps(t, api, id, [
      ['pause', 'PAUSED'],
      ['resume', 'QUEUED'],
    ]);
    await steps(t, api, other, [
      ['cancel', 'CANCELLED'],
      ['cancel', 'CANCELLED'],
    ]);
    await refusals(t, api, other, 'CANCELLED', ['pause', 'resume']);
    t.match(await planDue(sql), [{ id, isScheduled: false }], 'what is cancelled is not planned');
    const { body } = await api.call('GET', `/${other}`);
    t.match(body, { state: 'CANCELLED', totalCount: 0, finishedAt: Number }, 'it was for nobody');
    const paused = await api.push({ sendAt: Date.now() + HOUR_MS });
    await steps(t, api, paused, [
      ['pause', 'PAUSED'],
      ['cancel', 'CANCELLED'],
    ]);
    t.match((await api.call('GET', `/${paused}`)).body, { finishedAt: Number });
  },

  async 'a cancelled one that was not planned is over in the log too, once'(t, store) {
    const told: EndedJob[] = [];
    const journal = { ended: (jobs: readonly EndedJob[]) => told.push(...jobs) };
    const api = await startJobsApi(t, store, 'told', { journal });
    const id = await api.push({ sendAt: Date.now() + HOUR_MS });
    await steps(t, api, id, [
      ['pause', 'PAUSED'],
      ['cancel', 'CANCELLED'],
      ['cancel', 'CANCELLED'],
    ]);
    t.match(told, [{ id, clientId: api.tenant.clientId, state: 'CANCELLED', total: 0 }]);
    t.equal(told.length, 1);
  },

  'nothing of a paused one is claimed, however it waits': async (t, store) => paused(t, store),

  'of a cancelled one all is claimed at once, but what is parked': async (t, store) =>
    cancelled(t, store),

  async 'what has ended takes no orders'(t, store) {
    const api = await startSeeded(t, store, 'ended');
    for (const state of ['FINISHED', 'FAILED']) {
      const id = await api.push();
      await store.sql`
        update notifications set state = ${state}, finished_at = now() where id = ${id}::uuid`;
      await refusals(t, api, id, state, ORDERS);
    }
  },

  async 'whose job it is not, to him it is none'(t, store) {
    const api = await startSeeded(t, store, 'owner');
    const stranger = await startJobsApi(t, store, 'stranger');
    const { tagId } = api.tenant;
    const limited = await api.key({ scopes: ['send', 'read'], tagIds: [tagId] });
    const sender = await api.key({ scopes: ['send'] });
    const reader = await api.key({ scopes: ['read'] });
    const id = await api.push();
    for (const what of ORDERS) {
      t.equal((await order(stranger, id, what)).status, 404);
      t.equal((await order(api, id, what, limited)).status, 404);
      t.equal((await order(api, id, what, reader)).status, 403);
      t.equal((await order(api, 'x', what)).status, 404);
    }
    t.equal(await stateOf(api, id), 'QUEUED');
    t.equal((await order(api, id, 'pause', sender)).status, 200);
    const its = await api.push({}, limited);
    t.match(await order(api, its, 'cancel', limited), { status: 200, body: { id: its } });
  },
});

async function paused(t: Test, store: Store): Promise<void> {
  const api = await startSeeded(t, store, 'held');
  const { sql } = store;
  const { appId } = api.tenant;
  const id = await api.push();
  await planDue(sql);
  await sql`
    insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at)
    values (${id}, ${appId}, 3, 0, 1, 'Later', now())`;
  await sql`update notifications set open_retries = 1 where id = ${id}::uuid`;
  await steps(t, api, id, [
    ['resume', 'RUNNING'],
    ['pause', 'PAUSED'],
  ]);
  t.same(await listClaimable(sql), []);
  t.same(await claimChunksOf(sql, id, LEASE_MS), [], 'small parts wait in memory');
  t.same(await claimRetriesOf(sql, id, LEASE_MS), []);
  await steps(t, api, id, [['resume', 'RUNNING']]);
  t.match(await listClaimable(sql), [{ notificationId: id, hasChunks: true, hasRetries: true }]);
  t.match(await claimChunksOf(sql, id, LEASE_MS), [{ state: 'RUNNING' }]);
  t.match(await claimRetriesOf(sql, id, LEASE_MS), [{ state: 'RUNNING' }]);
}

async function cancelled(t: Test, store: Store): Promise<void> {
  const api = await startSeeded(t, store, 'counted');
  const { sql } = store;
  const { appId } = api.tenant;
  const id = await api.push();
  await planDue(sql);
  await sql`
    insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at, parked_at)
    values (${id}, ${appId}, 3, 0, 1, 'Later', now() + interval '1 hour', null),
      (${id}, ${appId}, 3, 1, 1, 'Later', 'infinity', now())`;
  await sql`update notifications set open_retries = 1 where id = ${id}::uuid`;
  await sql`
    insert into chunks (notification_id, app_id, platform_id, group_number, available_at, parked_at, parked_devices)
    values (${id}, ${appId}, 3, 7, 'infinity', now(), 7)`;
  await sql`
    update chunks set available_at = now() + interval '1 hour'
    where notification_id = ${id}::uuid and group_number = 0`;
  t.same(await listClaimable(sql), [], 'its provider is away for an hour');
  await steps(t, api, id, [
    ['pause', 'PAUSED'],
    ['cancel', 'CANCELLED'],
    ['cancel', 'CANCELLED'],
  ]);
  t.notOk('finishedAt' in (await api.call('GET', `/${id}`)).body, 'it is still to be counted');
  t.match(await listClaimable(sql), [{ notificationId: id, hasChunks: true, hasRetries: true }]);
  t.match(await claimChunksOf(sql, id, LEASE_MS, 9), [{ groupNumber: 0, state: 'CANCELLED' }]);
  const [batch, ...others] = await claimRetriesOf(sql, id, LEASE_MS);
  t.strictSame([batch?.ordinals, batch?.state, others], [[0], 'CANCELLED', []]);
  t.same(await claimChunksOf(sql, id, LEASE_MS, 9), [], 'they are held now');
}
