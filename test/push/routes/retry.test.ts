/** A job again for those whom it has not reached: over HTTP, on both stores, with the simulator. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { commitReplacement } from '../../../src/devices/replace/replace-commit.ts';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { removeReach } from '../../../src/push/sql/ledger/remove-reach.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { declareAttribute } from '../../support/attributes.ts';
import type { JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { claimChunksOf } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { fcmCredential } from '../../support/provider-credentials.ts';
import { seedDevices } from '../../support/seed.ts';
import { credentialOf, fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';

const IOS = 3;
const ANDROID = 15;
const NAMES = { [IOS]: 'apns', [ANDROID]: 'fcm' } as const;
const DAY_MS = 86_400_000;
const simulator = await freshSimulator();

/** Changes its behaviour, and keeps its books. */
const behaveNow = (behaviour: object) =>
  fetch(`${simulator.controlUrl}/behaviour`, { method: 'PUT', body: JSON.stringify(behaviour) });

/** How often the simulator has accepted a message for each device of the app. */
async function acceptedCounts({ sql }: Store, appId: number): Promise<Map<string, number>> {
  const devices = await sql<{ token: string; platformId: 3 | 15 }[]>`
    select device_id as token, platform_id as "platformId" from devices where app_id = ${appId}`;
  const counts = new Map<string, number>();
  for (const { token, platformId } of devices) {
    const answer = await fetch(`${simulator.controlUrl}/received/${NAMES[platformId]}/${token}`);
    const { accepted = 0 } = (await answer.json()) as { readonly accepted?: number };
    counts.set(token, accepted);
  }
  return counts;
}

const FINAL = new Set(['FINISHED', 'FAILED', 'CANCELLED']);

const ended = (api: JobsApi, id: string) =>
  until(
    `${id} has ended`,
    async () => {
      const { body } = await api.call('GET', `/${id}`);
      return FINAL.has(body.state) && body.finishedAt !== undefined ? body : null;
    },
    60_000,
  );

const isBalanced = (job: Record<string, number>): boolean =>
  job['totalCount'] ===
  ['success', 'failed', 'skipped', 'expired', 'cancelled'].reduce(
    (sum, name) => sum + (job[`${name}Count`] ?? 0),
    0,
  );

/** A job that a third of the iPhones refused, and of which Android had no good credential. */
async function startScene(t: Test, store: Store, slug: string) {
  await behave(simulator, { shares: { notFound: 0.3 } });
  let isMended = false;
  const fanOut = await fanOutFor(t, store, simulator, {
    credentials: (_, platformId) =>
      Promise.resolve(
        platformId === ANDROID && !isMended ? fcmCredential() : credentialOf(simulator, platformId),
      ),
  });
  const api = await startJobsApi(t, store, slug, { accept: fanOut.accept });
  const { appId, tagId } = api.tenant;
  const seed = (platformId: number, count: number) =>
    seedDevices(store.sql, { appId, platformId, tagIds: [tagId], count });
  await seed(IOS, 90);
  await seed(ANDROID, 40);
  const id = await api.push({ ratePerSecond: 100_000, pauseAfter: 100_000 });
  const job = await ended(api, id);
  const mend = async (): Promise<void> => {
    isMended = true;
    await behaveNow({ shares: { notFound: 0 } });
  };
  return { api, appId, id, job, fanOut, seed, mend };
}

/** Moves devices as compaction does: into a group that is there, to fresh ordinals. */
async function move({ sql }: Store, appId: number): Promise<void> {
  const at = { appId, platformId: IOS };
  await sql`
    update app_platforms set next_ordinal = ${3 * GROUP_DEVICES} where app_id = ${at.appId} and platform_id = ${IOS}`;
  await sql`
    update devices set ordinal = ordinal + ${GROUP_DEVICES}
    where app_id = ${at.appId} and platform_id = ${IOS} and ordinal < 60`;
}

await onEachStore(t, {
  async 'each device gets it once, whoever moved, came or left between'(t, store) {
    const { api, appId, id, job, seed, mend, fanOut } = await startScene(t, store, 'mended');
    t.match(job, { successCount: Number, pauseAfter: 100_000 });
    t.ok(job.failedCount > 50 && job.successCount > 40, `${job.successCount} reached`);
    const reached = [...(await acceptedCounts(store, appId))].filter(([, count]) => count > 0);
    t.equal(reached.length, job.successCount);
    await mend();
    // A second group, whose devices are new; then devices of the first move there.
    await store.sql`
      update app_platforms set next_ordinal = ${GROUP_DEVICES + 1_000}
      where app_id = ${appId} and platform_id = ${IOS}`;
    await seed(IOS, 5);
    await move(store, appId);
    const [gone = ['']] = [...(await acceptedCounts(store, appId))].filter(([, n]) => n === 0);
    await store.sql`delete from devices where app_id = ${appId} and device_id = ${gone[0]}`;
    const answer = await api.call('POST', `/${id}/retry`, {});
    t.match(answer, { status: 202, body: { retries: id } });
    const retry = await ended(api, answer.body.id);
    t.ok(isBalanced(retry), JSON.stringify(retry));
    t.match(retry, { state: 'FINISHED', failedCount: 0, retries: id, ratePerSecond: 100_000 });
    t.equal(retry.pauseAfter, undefined, 'the stage is over');
    t.match(retry.payload, job.payload);
    t.match((await api.call('GET', `/${id}`)).body, { retriedBy: [retry.id] });
    const counts = await acceptedCounts(store, appId);
    t.same(
      [...counts].filter(([, count]) => count !== 1),
      [],
      'exactly once',
    );
    t.equal(retry.successCount, counts.size - reached.length);
    t.match(await api.call('POST', `/${retry.id}/retry`, {}), {
      status: 409,
      body: { detail: /Nothing .* has failed/ },
    });
    await fanOut.drain();
  },

  async 'one platform, another text; a retry of a retry leaves out both'(t, store) {
    const { api, appId, id, mend, fanOut } = await startScene(t, store, 'chained');
    const body = { platformIds: [ANDROID], payload: { title: 'mended' } };
    const first = await api.call('POST', `/${id}/retry`, body);
    const failed = await ended(api, first.body.id);
    t.match(failed, { state: 'FAILED', failedCount: 40, payload: { title: 'mended' } });
    t.same(failed.audience.platformIds, [ANDROID]);
    await mend();
    const second = await api.call('POST', `/${first.body.id}/retry`);
    t.match(second, { status: 202, body: { retries: id } });
    t.match(await ended(api, second.body.id), { successCount: 40, payload: { title: 'mended' } });
    const third = await api.call('POST', `/${id}/retry`, {});
    const rest = await ended(api, third.body.id);
    t.ok(rest.successCount > 10 && isBalanced(rest));
    const counts = await acceptedCounts(store, appId);
    t.ok([...counts.values()].every((count) => count === 1));
    const audit = await store.sql`
      select object_id, detail from audit_entries where action = 'notification.retry' order by id`;
    t.match(audit, [
      { object_id: id, detail: { by: first.body.id } },
      { object_id: first.body.id, detail: { by: second.body.id } },
      { object_id: id, detail: { by: third.body.id } },
    ]);
    await fanOut.drain();
  },

  async 'its holder is lost in the middle: still once; nothing is forgotten meanwhile'(t, store) {
    const { api, appId, id, mend, fanOut } = await startScene(t, store, 'lost');
    const { sql } = store;
    await mend();
    await fanOut.drain();
    const { body } = await api.call('POST', `/${id}/retry`, { platformIds: [IOS] });
    t.match(await planDue(sql), [{ id: body.id }]);
    t.equal((await claimChunksOf(sql, body.id, 1)).length, 1);
    await removeReach(sql, Date.now() + DAY_MS, { jobs: 10, rows: 100 });
    const again = await fanOutFor(t, store, simulator);
    const retry = await ended(api, body.id);
    t.ok(retry.successCount > 10 && isBalanced(retry));
    const counts = await acceptedCounts(store, appId);
    const [one = 0] = [...counts.values()].filter((count) => count > 1);
    t.equal(one, 0, 'nobody twice');
    t.equal((await api.call('GET', `/${retry.id}`)).body.successCount, retry.reach.devices);
    await again.drain();
    await removeReach(sql, Date.now() + DAY_MS, { jobs: 10, rows: 100 });
    t.equal((await api.call('GET', `/${id}`)).body.reach, undefined);
    t.equal((await api.call('POST', `/${id}/retry`, {})).status, 410);
  },

  async 'one at a time, and the same answer to the same key'(t, store) {
    const { api, id, fanOut } = await startScene(t, store, 'alone');
    await fanOut.drain();
    const key = { 'idempotency-key': 'again' };
    const retry = (headers = {}, body = {}) =>
      api.call('POST', `/${id}/retry`, body, undefined, headers);
    await store.sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0053-reach')`;
    t.match(await retry(key), { status: 503, body: { detail: /old/ } }, 'it would send to all');
    await store.sql`delete from nodes where host = 'old'`;
    const [first, second] = await Promise.all([retry(key), retry(key)]);
    t.match([first.status, second.status], [202, 202]);
    t.equal(first.body.id, second.body.id);
    t.equal((await retry(key)).body.id, first.body.id);
    t.equal((await retry(key, { platformIds: [IOS] })).status, 422);
    t.match(await retry(), { status: 409, body: { detail: new RegExp(first.body.id) } });
    const change = (body: object) => api.call('PATCH', `/${first.body.id}`, body);
    const message = /at or before 20.*Z/;
    t.match(await change({ expiresAt: Date.now() + 7 * DAY_MS }), {
      status: 400,
      body: { errors: [{ path: 'expiresAt', message }] },
    });
    t.equal((await change({ expiresAt: Date.now() + DAY_MS })).status, 200);
    const push = { tagIds: [api.tenant.tagId], payload: { title: 'x' } };
    t.match(await api.call('POST', `/${first.body.id}/replace`, push), {
      status: 409,
      body: { detail: /retry again with the payload/ },
    });
    t.match((await api.call('GET', `/${first.body.id}`)).body, { state: 'QUEUED' });
    await api.call('POST', `/${first.body.id}/cancel`);
    t.equal((await retry()).status, 202, 'after its end another');
  },

  async 'what is refused, and why'(t, store) {
    const { api, id, fanOut } = await startScene(t, store, 'refused');
    const { sql } = store;
    await fanOut.drain();
    const retry = (job = id, body: object = {}, token?: string) =>
      api.call('POST', `/${job}/retry`, body, token);
    t.equal((await retry('0190163d-8694-7e9b-a36c-97dcd5bd2ba9')).status, 404);
    t.equal((await retry('no-id')).status, 404);
    t.match(await retry(id, { tagIds: [1] }), {
      status: 400,
      body: { errors: [{ path: 'tagIds' }] },
    });
    t.equal((await retry(id, { platformIds: [] })).status, 400);
    t.equal((await retry(id, { payload: { badge: 'x' } })).status, 400);
    t.match(await retry(id, { platformIds: [33] }), {
      status: 400,
      body: { errors: [{ path: 'platformIds', message: /3 \(iOS\).*not 33/ }] },
    });
    const failedOn = /Nothing .* there: .* 3 \(iOS\) and 15 \(Android\)/;
    t.match(await retry(id, { platformIds: [7] }), { status: 409, body: { detail: failedOn } });
    const key = await api.key({ scopes: ['send'], tagIds: [api.tenant.tagId] });
    t.match(await retry(id, {}, key), { status: 403, body: { detail: /its own/ } });
    t.equal((await retry(id, {}, await api.key({ scopes: ['read'] }))).status, 403);
    t.equal((await retry(id, {}, await api.key({ scopes: ['send'], maxDevices: 3 }))).status, 403);
    const ahead = await api.push({ sendAt: Date.now() + DAY_MS });
    t.match(await retry(ahead), { status: 409, body: { detail: /SCHEDULED/ } });
    await api.call('POST', `/${ahead}/cancel`);
    t.match(await retry(ahead), { status: 409, body: { detail: /cancelled/ } });
    const refusedBy = async (change: Promise<unknown>, status: number, detail: RegExp) => {
      await change;
      t.match(await retry(), { status, body: { detail } });
    };
    const whole = sql`update notification_scopes set delivered = delivered + 1 where notification_id = ${id}`;
    await refusedBy(whole, 410, /incomplete/);
    await sql`update notification_scopes set delivered = delivered - 1 where notification_id = ${id}`;
    const old = sql`update notifications set first_send_at = now() - interval '7 days' where id = ${id}`;
    await refusedBy(old, 410, /began at .*: 7\)/);
    const soon = sql`update notifications set first_send_at = now() - interval '6 days 23 h 30 min' where id = ${id}`;
    await refusedBy(soon, 410, /possible until/);
    await sql`update notifications set first_send_at = finished_at where id = ${id}`;
    const past = sql`update notifications set expires_at = now() - interval '1 second' where id = ${id}`;
    await refusedBy(past, 409, /expiresAt/);
    await sql`update notifications set expires_at = null where id = ${id}`;
    t.equal((await sql`select from notifications where retries is not null`).length, 0);
    t.equal((await retry(id, { platformIds: null, payload: null })).status, 202);
  },

  async 'a key for so many devices: of the audience where it goes, after the repeated request'(
    t,
    store,
  ) {
    const { api, id, fanOut, seed } = await startScene(t, store, 'limited');
    await fanOut.drain();
    const key = await api.key({ scopes: ['send'], maxDevices: 60 });
    const retry = (body: object, headers = {}) =>
      api.call('POST', `/${id}/retry`, body, key, headers);
    t.match(await retry({ platformIds: [IOS] }), { status: 403, body: { detail: /devices.* 60/ } });
    const again = { 'idempotency-key': 'again' };
    const first = await retry({ platformIds: [ANDROID] }, again);
    t.equal(first.status, 202);
    await seed(ANDROID, 30);
    t.same((await retry({ platformIds: [ANDROID] }, again)).body, first.body);
  },

  async 'it has the patience of any push, and outlives no reach'(t, store) {
    const { api, id, appId, fanOut, mend } = await startScene(t, store, 'patient');
    const { sql } = store;
    await fanOut.drain();
    const { body } = await api.call('POST', `/${id}/retry`, { platformIds: [IOS] });
    t.equal((await api.call('GET', `/${body.id}`)).body.expiresAt, undefined);
    t.match(await planDue(sql), [{ id: body.id }]);
    const [claimed] = await claimChunksOf(sql, body.id, 1);
    t.match(claimed, { expiresAtMs: null }, 'so its devices fail, and it can be retried');
    await api.call('POST', `/${body.id}/pause`);
    await sql`update notifications set retries_until = now() - interval '1 second' where id = ${body.id}`;
    await removeReach(sql, Date.now() + DAY_MS, { jobs: 10, rows: 100 });
    await api.call('POST', `/${body.id}/resume`);
    const before = await acceptedCounts(store, appId);
    await mend();
    const again = await fanOutFor(t, store, simulator);
    const retry = await ended(api, body.id);
    t.match(retry, { successCount: 0, failedCount: 0 });
    t.ok(retry.expiredCount > 0 && isBalanced(retry));
    t.same(await acceptedCounts(store, appId), before, 'nobody gets it');
    await again.drain();
  },

  async 'where another part of the chain has no reach it goes on'(t, store) {
    const { api, id, appId, fanOut, mend } = await startScene(t, store, 'partly');
    await mend();
    await fanOut.drain();
    const { body } = await api.call('POST', `/${id}/retry`, { platformIds: [IOS] });
    await store.sql`
      update notification_scopes set reached = null where notification_id = ${id} and platform_id = ${ANDROID}`;
    const again = await fanOutFor(t, store, simulator);
    const retry = await ended(api, body.id);
    t.ok(retry.successCount > 10 && isBalanced(retry), JSON.stringify(retry));
    t.ok([...(await acceptedCounts(store, appId)).values()].every((count) => count <= 1));
    await again.drain();
  },

  async 'a token that was merged into another has the message'(t, store) {
    const { api, id, appId, fanOut, mend } = await startScene(t, store, 'merged');
    const { sql } = store;
    await mend();
    await fanOut.drain();
    const counts = await acceptedCounts(store, appId);
    const devices = await sql<{ token: string }[]>`
      select device_id as token from devices where app_id = ${appId} and platform_id = ${IOS}`;
    const [first, last] = [1, 0].map((count) => {
      const found = devices.find(({ token }) => counts.get(token) === count);
      return deviceRef(appId, IOS, found?.token ?? '');
    });
    if (first === undefined || last === undefined) throw new Error('nobody to merge');
    const replacement = { device: first, by: last, attributes: NO_ATTRIBUTES };
    t.match(await commitReplacement(sql, replacement, 100), { outcome: 'merged' });
    const { body } = await api.call('POST', `/${id}/retry`, { platformIds: [IOS] });
    const again = await fanOutFor(t, store, simulator);
    const retry = await ended(api, body.id);
    t.ok(retry.successCount > 10 && isBalanced(retry));
    t.equal(
      (await acceptedCounts(store, appId)).get(last.deviceId),
      0,
      'it was reached as the old one',
    );
    await again.drain();
  },

  async 'what its segments have made long is held to the rights of a key'(t, store) {
    const api = await startJobsApi(t, store, 'long');
    const { tenant, push, key, call } = api;
    const creed = { name: 'creed', type: 'text', isPersonal: true };
    await declareAttribute(store.sql, tenant.clientId, creed);
    const job = await push({ tagIds: undefined, audience: 'news && @creed = gerbil' });
    const expanded = `news && (${' '.repeat(4_000)}@creed = gerbil)`;
    await store.sql`update notifications set audience_expression = ${expanded} where id = ${job}`;
    const answer = await call('POST', `/${job}/retry`, {}, await key({ scopes: ['send'] }));
    t.match(answer, { status: 403, body: { detail: /@creed is personal/ } });
    const knowing = await key({ scopes: ['send', 'personal'] });
    t.equal((await call('POST', `/${job}/retry`, {}, knowing)).status, 409);
  },

  async 'another tenant sees nothing of it'(t, store) {
    const { id, fanOut } = await startScene(t, store, 'first');
    await fanOut.drain();
    const other = await startJobsApi(t, store, 'second');
    t.equal((await other.call('POST', `/${id}/retry`, {})).status, 404);
    const foreign = `/push-api/v3/first/notifications/${id}/retry`;
    t.equal((await other.call('POST', foreign, {})).status, 403);
  },
});
