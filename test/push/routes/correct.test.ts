/** A correction: who has the message, and who was to get it, has the new one, once. */

import t from 'tap';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import { removeReach } from '../../../src/push/sql/ledger/remove-reach.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import {
  ANDROID,
  DEVICES,
  ended,
  halfSent,
  IOS,
  isBalanced,
  simulator,
  staged,
  startScene,
} from '../../support/correction-scene.ts';
import { claimChunksOf } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { fanOutFor } from '../../support/sending.ts';

const DAY_MS = 86_400_000;
const NEW = { title: 'goal!', message: '2:0', sound: 'horn' };

t.setTimeout(180_000);

await onEachStore(t, {
  async 'of a job that has ended: whoever moved, left or was erased between'(t, store) {
    const { api, appId, fanOut, screens } = await startScene(t, store, 'ended');
    const { sql } = store;
    const id = await api.push({ payload: { title: 'goal!', message: '1:0' } });
    await ended(api, id);
    // One unsubscribes, one is erased, some move to another group, one comes.
    const all = await screens();
    const [left, erased] = all.filter(({ platformId }) => platformId === ANDROID);
    await sql`update devices set tag_ids = '{}' where device_id = ${left?.token ?? ''} and app_id = ${appId}`;
    await sql`delete from devices where device_id = ${erased?.token ?? ''} and app_id = ${appId}`;
    const far = 20 * GROUP_DEVICES;
    await sql`update app_platforms set next_ordinal = ${far + 1_000} where app_id = ${appId} and platform_id = ${IOS}`;
    await sql`
      update devices set ordinal = ordinal + ${far} where app_id = ${appId} and platform_id = ${IOS} and ordinal < 30`;
    await sql`
      insert into devices (app_id, platform_id, ordinal, device_key, device_id, tag_ids, registered_at)
      values (${appId}, ${IOS}, ${far + 500}, gen_random_uuid(), ${'ab'.repeat(32)}, ${[api.tenant.tagId]}, now())`;
    const answer = await api.call('POST', `/${id}/correct`, { payload: NEW });
    t.match(answer, { status: 202, body: { corrects: id } });
    t.match(answer.headers.get('location'), new RegExp(answer.body.id));
    const correction = await ended(api, answer.body.id);
    t.ok(isBalanced(correction), JSON.stringify(correction));
    t.match(correction, {
      state: 'FINISHED',
      totalCount: DEVICES,
      successCount: DEVICES - 1,
      skippedCount: 1,
      corrects: id,
      priority: 'urgent',
      payload: { title: 'goal!', message: '2:0', present: { interruption: 'passive' } },
    });
    t.equal(correction.retries, undefined);
    t.equal(correction.payload.sound, undefined, 'quiet');
    t.match((await api.call('GET', `/${id}`)).body, { correctedBy: [correction.id] });
    for (const { token, shown, accepted } of await screens()) {
      if (token === erased?.token) continue;
      t.match(shown, [{ identity: id, body: '2:0', pushId: correction.id, replaces: id }]);
      t.equal(shown.length, 1);
      t.equal(accepted, 2, 'the old one once, the new one once');
    }
    t.same(
      await sql`select action, detail from audit_entries where object_id = ${id}`,
      [{ action: 'notification.correct', detail: { by: correction.id } }],
      'one entry',
    );
    await fanOut.drain();
  },

  async 'in the middle of a send: the rest gets the new text alone'(t, store) {
    const { api, fanOut, screens } = await startScene(t, store, 'middle', {
      behaviour: { latencyMs: 20 },
    });
    const id = await api.push({ payload: { title: 'old' }, ratePerSecond: 20 });
    await halfSent(api, id, 15);
    const answer = await api.call('POST', `/${id}/correct`, { payload: { title: 'new' } });
    t.equal(answer.status, 202, JSON.stringify(answer.body));
    const first = await ended(api, id);
    t.match(first, { state: 'CANCELLED' });
    t.ok(isBalanced(first) && first.cancelledCount > 0, JSON.stringify(first));
    const correction = await ended(api, answer.body.id);
    t.ok(isBalanced(correction));
    t.match(correction, { totalCount: DEVICES, successCount: DEVICES });
    const all = await screens();
    for (const { shown } of all) t.match(shown, [{ identity: id, title: 'new' }]);
    const twice = all.filter(({ accepted }) => accepted === 2).length;
    t.equal(twice, first.successCount, 'both texts where the old one was');
    t.ok(all.every(({ accepted }) => accepted === 1 || accepted === 2));
    await fanOut.drain();
  },

  async 'stop: the rest gets nothing'(t, store) {
    const { api, fanOut, screens } = await startScene(t, store, 'rests');
    const stopped = await staged(
      api,
      await api.push({ payload: { title: 'old' }, pauseAfter: 40 }),
    );
    const stop = await api.call('POST', `/${stopped.id}/correct`, {
      payload: { title: 'new' },
      rest: 'stop',
    });
    const stopping = await ended(api, stop.body.id);
    const first = await ended(api, stopped.id);
    t.equal(stopping.totalCount, first.successCount);
    t.equal(first.cancelledCount, DEVICES - first.successCount);
    const shown = (await screens()).map((one) => one.shown.map(({ title }) => title));
    t.same(shown.filter(([title]) => title === 'new').length, first.successCount);
    t.same(shown.filter((titles) => titles.length === 0).length, first.cancelledCount);
    await fanOut.drain();
  },

  async 'original: the rest gets the old text, and all get the new one after it'(t, store) {
    // Answers are lost: what is sent again comes before the correction.
    const { api, fanOut, screens } = await startScene(t, store, 'original', {
      behaviour: { latencyMs: 20, ends: { cut: 20 } },
    });
    const id = await api.push({ payload: { title: 'old' }, ratePerSecond: 20 });
    await halfSent(api, id, 15);
    const correct = (job: string, body: object) =>
      api.call('POST', `/${job}/correct`, { payload: { title: 'new' }, ...body });
    const few = await api.key({ scopes: ['send'], maxDevices: DEVICES - 1 });
    const body = { payload: { title: 'new' }, rest: 'original' };
    t.equal((await api.call('POST', `/${id}/correct`, body, few)).status, 403);
    const answer = await correct(id, { rest: 'original' });
    t.equal(answer.status, 202, JSON.stringify(answer.body));
    t.match((await api.call('GET', `/${id}`)).body, { state: 'RUNNING' }, 'it goes on');
    t.equal((await correct(answer.body.id, {})).status, 409, 'what it waits for is under way');
    const first = await ended(api, id);
    t.match(first, { state: 'FINISHED', totalCount: DEVICES, cancelledCount: 0 });
    const correction = await ended(api, answer.body.id);
    t.ok(isBalanced(correction));
    t.equal(correction.totalCount, DEVICES);
    for (const { shown } of await screens()) {
      t.match(shown, [{ identity: id, title: 'new' }]);
      t.equal(shown.length, 1);
    }
    await fanOut.drain();
  },

  async 'a correction that waits is called off: another takes its place'(t, store) {
    const { api, fanOut, screens } = await startScene(t, store, 'called');
    const id = await api.push({ payload: { title: 'old' }, pauseAfter: 40 });
    await staged(api, id);
    const correct = (title: string, rest: string) =>
      api.call('POST', `/${id}/correct`, { payload: { title }, rest });
    const waiting = await correct('wrong', 'original');
    t.equal(waiting.status, 202);
    const refused = await correct('new', 'corrected');
    t.match(refused, {
      status: 409,
      body: { detail: new RegExp(`${waiting.body.id}.*cancel it`) },
    });
    t.equal((await api.call('POST', `/${waiting.body.id}/cancel`)).status, 200);
    const answer = await correct('new', 'corrected');
    t.equal(answer.status, 202, JSON.stringify(answer.body));
    t.match(await ended(api, waiting.body.id), { state: 'CANCELLED', successCount: 0 });
    t.match(await ended(api, answer.body.id), { totalCount: DEVICES, successCount: DEVICES });
    for (const { shown } of await screens()) t.match(shown, [{ identity: id, title: 'new' }]);
    await fanOut.drain();
  },

  async 'its holder is lost: doubted devices have it too, and nothing is forgotten'(t, store) {
    const { api, fanOut, screens } = await startScene(t, store, 'lost');
    const { sql } = store;
    await fanOut.drain();
    const id = await api.push({ payload: { title: 'old' } });
    t.match(await planDue(sql), [{ id }]);
    t.ok((await claimChunksOf(sql, id, 3)).length > 1);
    const answer = await api.call('POST', `/${id}/correct`, { payload: { title: 'new' } });
    t.equal(answer.status, 202, JSON.stringify(answer.body));
    t.match((await api.call('GET', `/${id}`)).body, { state: 'CANCELLED' });
    t.same(await claimChunksOf(sql, answer.body.id, 3), [], 'it waits');
    // The process dies after it has claimed the correction's parts, too.
    const again = await fanOutFor(t, store, simulator, { leaseMs: 2_000 });
    const correction = await ended(api, answer.body.id);
    t.ok(isBalanced(correction));
    t.match(correction, { totalCount: DEVICES, successCount: DEVICES });
    for (const { shown, accepted } of await screens()) {
      t.match(shown, [{ identity: id, title: 'new' }]);
      t.equal(accepted, 1);
    }
    await removeReach(sql, Date.now() + DAY_MS, { jobs: 10, rows: 100 });
    t.equal((await api.call('POST', `/${id}/correct`, { payload: NEW })).status, 410);
    await again.drain();
  },

  async 'a correction is corrected, in its middle and after; a retry is of the chain'(t, store) {
    const { api, fanOut, screens } = await startScene(t, store, 'chain');
    const correct = (job: string, title: string, more: object = {}, token?: string) =>
      api.call('POST', `/${job}/correct`, { payload: { title }, ...more }, token);
    const id = await api.push({
      payload: { title: 'one', collapseId: 'match-7' },
      pauseAfter: 40,
      ratePerSecond: 30,
    });
    await staged(api, id);
    const second = await correct(id, 'two');
    await api.call('POST', `/${second.body.id}/pause`);
    await ended(api, id);
    const refused = await correct(id, 'three');
    t.match(refused, { status: 409, body: { detail: new RegExp(second.body.id) } });
    const third = await correct(second.body.id, 'three');
    t.match(third, { status: 202, body: { corrects: id } });
    t.match(await ended(api, second.body.id), { state: 'CANCELLED' });
    t.match(await ended(api, third.body.id), { successCount: DEVICES });
    for (const { shown } of await screens()) {
      t.match(shown, [{ identity: 'match-7', title: 'three', replaces: id }]);
      t.equal(shown.length, 1);
    }
    const key = await api.key({ scopes: ['send'], maxDevices: DEVICES });
    const fourth = await correct(id, 'four', { alert: 'again' }, key);
    t.equal(fourth.status, 202, 'corrections are not counted again');
    const last = await ended(api, fourth.body.id);
    t.match(last, { successCount: DEVICES, payload: { collapseId: 'match-7' } });
    t.equal(last.payload.present.interruption, undefined);
    t.match((await api.call('GET', `/${id}`)).body.correctedBy, [
      second.body.id,
      third.body.id,
      fourth.body.id,
    ]);
    const retry = (body: object) => api.call('POST', `/${id}/retry`, body);
    t.match(await retry({}), { status: 409 });
    await store.sql`update notification_scopes set failed = failed + 1, total = total + 1 where notification_id = ${id}`;
    await store.sql`update notifications set state = 'FINISHED' where id = ${id}`;
    t.match(await retry({}), { status: 409, body: { detail: /give the payload/ } });
    const ofCorrection = await api.call('POST', `/${last.id}/retry`, {});
    t.match(ofCorrection, { status: 409, body: { detail: /correct that again/ } });
    const other = await retry({ payload: { title: 'five', collapseId: 'match-8' } });
    t.match(other, { status: 400, body: { errors: [{ path: 'payload.collapseId' }] } });
    const retried = await retry({ payload: { title: 'five' } });
    t.match(retried, { status: 202 });
    t.match(
      await ended(api, retried.body.id),
      { totalCount: 0, payload: { collapseId: 'match-7' } },
      'all of them have it',
    );
    t.equal((await correct(id, 'six')).status, 202, 'the chain has one identity');
    await fanOut.drain();
  },

  async 'one at a time, the same answer to the same key, both or neither'(t, store) {
    const { api, fanOut } = await startScene(t, store, 'alone');
    const { sql } = store;
    const id = await api.push({ payload: { title: 'old' }, pauseAfter: 40 });
    await staged(api, id);
    await fanOut.drain();
    const key = { 'idempotency-key': 'again' };
    const correct = (headers = {}, title = 'new') =>
      api.call('POST', `/${id}/correct`, { payload: { title } }, undefined, headers);
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0054-retries')`;
    t.match(await correct(key), { status: 503, body: { detail: /old/ } });
    t.match((await api.call('GET', `/${id}`)).body, { state: 'PAUSED' });
    await sql`delete from nodes where host = 'old'`;
    const [first, second] = await Promise.all([correct(key), correct(key)]);
    t.match([first.status, second.status], [202, 202]);
    t.equal(first.body.id, second.body.id);
    t.equal((await correct(key)).body.id, first.body.id);
    t.equal((await correct(key, 'other')).status, 422);
    t.match(await correct(), { status: 409, body: { detail: new RegExp(first.body.id) } });
    const push = { tagIds: [api.tenant.tagId], payload: { title: 'x' } };
    t.equal((await api.call('POST', `/${first.body.id}/replace`, push)).status, 409);
    const change = { expiresAt: Date.now() + 7 * DAY_MS };
    t.equal((await api.call('PATCH', `/${first.body.id}`, change)).status, 400);
    await api.call('POST', `/${first.body.id}/cancel`);
    const again = await fanOutFor(t, store, simulator);
    t.match(await ended(api, first.body.id), { state: 'CANCELLED', successCount: 0 });
    t.equal((await correct()).status, 202, 'after its end another');
    await again.drain();
  },

  async 'what is refused, and why'(t, store) {
    const { api, fanOut } = await startScene(t, store, 'refused');
    const { sql } = store;
    const send = async (more: object) => {
      const id = await api.push(more as Readonly<Record<string, unknown>>);
      await ended(api, id);
      return id;
    };
    const id = await send({ payload: { title: 'old' } });
    const correct = (job: string, body: object = { payload: NEW }, token?: string) =>
      api.call('POST', `/${job}/correct`, body, token);
    t.equal((await correct('0190163d-8694-7e9b-a36c-97dcd5bd2ba9')).status, 404);
    t.equal((await correct('no-id')).status, 404);
    for (const [body, path] of [
      [{}, 'payload'],
      [{ payload: NEW, receipts: {} }, 'receipts'],
      [{ payload: NEW, rest: 'all' }, 'rest'],
      [{ payload: { ...NEW, collapseId: 'x' } }, 'payload.collapseId'],
      [{ payload: { ...NEW, webpush: { tag: 'x' } } }, 'payload.webpush.tag'],
      [{ payload: { ...NEW, silent: true } }, 'payload.silent'],
      [{ payload: { ...NEW, present: { replaceable: false } } }, 'payload.present.replaceable'],
      [{ payload: { title: 'x'.repeat(4_030) } }, 'payload'],
    ] as const) {
      t.match(await correct(id, body), { status: 400, body: { errors: [{ path }] } }, path);
    }
    const silent = await send({ payload: { silent: true, x: 1 } });
    t.match(await correct(silent), { status: 409, body: { detail: /cannot be replaced/ } });
    const plain = await send({ payload: { title: 'x', present: { replaceable: false } } });
    t.match(await correct(plain), { status: 409, body: { detail: /cannot be replaced/ } });
    const ahead = await api.push({ sendAt: Date.now() + DAY_MS });
    t.match(await correct(ahead), { status: 409, body: { detail: /SCHEDULED.*replace it/ } });
    const key = await api.key({ scopes: ['send'], tagIds: [api.tenant.tagId] });
    t.match(await correct(id, undefined, key), { status: 403, body: { detail: /its own/ } });
    t.equal((await correct(id, undefined, await api.key({ scopes: ['read'] }))).status, 403);
    const few = await api.key({ scopes: ['send'], maxDevices: 3 });
    t.match(await correct(id, undefined, few), { status: 403, body: { detail: /devices/ } });
    const refusedBy = async (change: Promise<unknown>, status: number, detail: RegExp) => {
      await change;
      t.match(await correct(id), { status, body: { detail } });
    };
    const old = sql`update notifications set first_send_at = now() - interval '7 days' where id = ${id}`;
    await refusedBy(old, 410, /began at/);
    const soon = sql`update notifications set first_send_at = now() - interval '6 days 23 h 30 min' where id = ${id}`;
    await refusedBy(soon, 410, /A correction was possible until/);
    await sql`update notifications set first_send_at = finished_at where id = ${id}`;
    await refusedBy(
      sql`update notification_scopes set reached = 0 where notification_id = ${id}`,
      409,
      /reached no device/,
    );
    t.equal((await sql`select from notifications where correction is not null`).length, 0);
    await fanOut.drain();
  },
});
