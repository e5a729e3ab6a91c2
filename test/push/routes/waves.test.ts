/** A push at local time: over HTTP, on both stores, with the simulator. */

import t from 'tap';
import { barSends } from '../../../src/devices/sql/bar-sends.ts';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { claimChunksOf } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave } from '../../support/simulator.ts';
import type { Wave } from '../../support/wave-scene.ts';
import {
  acceptedOf,
  DAY_MS,
  ended,
  IOS,
  isBalanced,
  jobOf,
  LOCAL,
  pass,
  simulator,
  startScene,
  tokensOf,
} from '../../support/wave-scene.ts';
import { bring, planWaves } from '../../support/waves.ts';

/** From east to west, no two of which have one moment. */
const ZONES = [
  'Pacific/Kiritimati',
  'Pacific/Chatham',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
  'Europe/Zurich',
  'America/St_Johns',
  'Pacific/Niue',
];

const ONES = (count: number): readonly number[] => Array.from({ length: count }, () => 1);

await onEachStore(t, {
  async 'each device at its hour, once'(t, store) {
    const scene = await startScene(t, store, 'hours', [...ZONES, null, 'Europe/Zurich']);
    const { api, sql, received, fanOut } = scene;
    const id = await api.push({ sendAtLocal: LOCAL });
    const before = await jobOf(api, id);
    t.match(before, { state: 'SCHEDULED', sendAtLocal: LOCAL, late: 'skip', totalCount: 0 });
    const waves = before.waves as readonly Wave[];
    t.strictSame(
      waves.map(({ zones, state, counts }) => [zones[0] ?? '', state, counts.totalCount]),
      [...ZONES.slice(0, 5), '', ...ZONES.slice(5)].map((zone) => [zone, 'SCHEDULED', 0]),
      'devices without a zone have that of UTC',
    );
    t.equal(before.nextWaveAt, waves[0]?.at);
    t.equal(before.sendAt, waves[0]?.at);
    for (const { at, zones, withoutTimezone } of waves) {
      for (const timeZone of withoutTimezone ? ['UTC'] : zones) {
        const shown = new Intl.DateTimeFormat('sv-SE', {
          timeZone,
          dateStyle: 'short',
          timeStyle: 'short',
        }).format(at);
        t.equal(shown, LOCAL.replace('T', ' '), timeZone);
      }
    }
    const first = await pass(api, sql, id, 0);
    t.match(first, { state: 'RUNNING', totalCount: 1, successCount: 1, nextWaveAt: Number });
    t.strictSame(await received(), [1, 0, 0, 0, 0, 0, 0, 0, 0]);
    for (let n = 1; n < waves.length; n += 1) await pass(api, sql, id, n);
    const job = await ended(api, id);
    t.match(job, { state: 'FINISHED', totalCount: 9, successCount: 9 });
    t.equal(job.nextWaveAt, undefined);
    t.strictSame(
      job.waves.map((wave: Wave) => wave.counts.totalCount),
      [1, 1, 1, 1, 2, 1, 1, 1],
    );
    t.strictSame(await received(), ONES(9));
    t.equal(job.reach.devices, 9);
    await fanOut.drain();
  },

  async 'who moves, comes, leaves or is moved between two waves'(t, store) {
    const [east = '', middle = '', west = ''] = ['Asia/Tokyo', 'Europe/Zurich', 'America/Lima'];
    const zones = [east, east, middle, middle, west, west];
    const scene = await startScene(t, store, 'moves', zones);
    const { api, appId, sql, fanOut, seed, tokens, move } = scene;
    const id = await api.push({ sendAtLocal: LOCAL });
    await pass(api, sql, id, 0);
    // One who has it goes west; one who has it not goes where the wave is over.
    await move(tokens[0], west);
    await move(tokens[4], east);
    await sql`
      update app_platforms set next_ordinal = ${GROUP_DEVICES + 1_000}
      where app_id = ${appId} and platform_id = ${IOS}`;
    await seed(1);
    const late = (await tokensOf(sql, appId)).at(-1);
    await move(late, middle);
    await sql`update devices set tag_ids = '{}' where device_id = ${tokens[3] ?? ''}`;
    // Compaction is let in between two waves, and takes one who has it to another group.
    t.equal(await sql.begin((tx) => barSends(tx, { appId, platformId: IOS })), true);
    await sql`
      update devices set ordinal = ordinal + ${GROUP_DEVICES} where device_id = ${tokens[0] ?? ''}`;
    for (const n of [1, 2, 3]) await pass(api, sql, id, n);
    const job = await ended(api, id);
    const got = async (token: string | undefined) => await acceptedOf(token ?? '');
    t.equal(await got(tokens[0]), 1, 'once, though its second zone came later');
    t.equal(await got(tokens[1]), 1);
    t.equal(await got(tokens[2]), 1);
    t.equal(await got(tokens[3]), 0, 'it unsubscribed');
    t.equal(await got(tokens[4]), 0, 'the wave of its zone was over');
    t.equal(await got(tokens[5]), 1);
    t.equal(await got(late), 1, 'it registered before the wave of its zone');
    t.match(job, { state: 'FINISHED', totalCount: 5, successCount: 5 });
    await fanOut.drain();
  },

  async 'is corrected after its last wave, or without the rest'(t, store) {
    const scene = await startScene(t, store, 'wrong', ['Asia/Tokyo', 'America/Lima']);
    const { api, sql, received, fanOut } = scene;
    const id = await api.push({ sendAtLocal: LOCAL });
    await pass(api, sql, id, 0);
    const correct = (rest: string) =>
      api.call('POST', `/${id}/correct`, { payload: { title: 'mended' }, rest });
    for (const rest of ['corrected', 'original']) {
      t.match(await correct(rest), {
        status: 409,
        body: { detail: /time zones are still to come/ },
      });
    }
    const { status, body } = await correct('stop');
    t.equal(status, 202);
    await planWaves(sql);
    t.match(await ended(api, id), { state: 'CANCELLED', totalCount: 1, successCount: 1 });
    t.match(await ended(api, body.id), { state: 'FINISHED', totalCount: 1, successCount: 1 });
    t.strictSame(await received(), [2, 0], 'one has both, one has neither');
    await fanOut.drain();
  },

  async 'a zone that is told after the acceptance has its own wave'(t, store) {
    const scene = await startScene(t, store, 'told', ['Asia/Tokyo', 'America/Lima']);
    const { api, sql, fanOut, tokens, move } = scene;
    const id = await api.push({ sendAtLocal: LOCAL });
    await move(tokens[1], 'Pacific/Honolulu');
    const job = await pass(api, sql, id, 0);
    const zones = job.waves.map((wave: Wave) => wave.zones);
    t.same(zones.flat().toSorted(), ['America/Lima', 'Asia/Tokyo', 'Pacific/Honolulu']);
    const last = job.waves.findIndex((wave: Wave) => wave.zones.includes('Pacific/Honolulu'));
    for (let n = 1; n < job.waves.length; n += 1) {
      t.equal(await acceptedOf(tokens[1] ?? ''), n > last ? 1 : 0);
      await pass(api, sql, id, n);
    }
    t.match(await ended(api, id), { totalCount: 2, successCount: 2 });
    await fanOut.drain();
  },

  async 'nodes that die in a wave and between two'(t, store) {
    const scene = await startScene(t, store, 'killed', ['Asia/Tokyo', null, 'America/Lima']);
    const { api, sql, received, fanOut, tokens, move } = scene;
    const id = await api.push({ sendAtLocal: LOCAL });
    await fanOut.drain();
    await bring(sql, id, (await jobOf(api, id)).waves[0].at);
    await Promise.all([planWaves(sql), planWaves(sql)]);
    t.equal((await claimChunksOf(sql, id, 1)).length, 1, 'and its holder is lost');
    t.match(await jobOf(api, id), { state: 'RUNNING', waves: [{ state: 'RUNNING' }] });
    await bring(sql, id, (await jobOf(api, id)).waves[1].at);
    await planWaves(sql);
    const parts = await sql`
      select from push_wave_parts where notification_id = ${id} and platform_id = ${IOS}`;
    t.equal(parts.length, 1, 'the next waits for the one before');
    const second = await fanOutFor(t, store, simulator);
    await pass(api, sql, id, 0);
    t.strictSame(await received(), [1, 0, 0]);
    await second.drain();
    await move(tokens[0], null);
    const third = await fanOutFor(t, store, simulator);
    await pass(api, sql, id, 1);
    await pass(api, sql, id, 2);
    t.match(await ended(api, id), { state: 'FINISHED', totalCount: 3, successCount: 3 });
    t.strictSame(await received(), [1, 1, 1]);
    await third.drain();
  },

  async 'a device that is tried again is in no later wave'(t, store) {
    const scene = await startScene(t, store, 'retried', ['Asia/Tokyo', 'America/Lima']);
    const { api, sql, received, fanOut, tokens, move } = scene;
    await behave(simulator, { shares: { throttled: 1 } });
    const id = await api.push({ sendAtLocal: LOCAL });
    await bring(sql, id, (await jobOf(api, id)).waves[0].at);
    await until('it is tried again', async () => {
      await planWaves(sql);
      const [row] = await sql`
        update retries set due_at = now() + interval '1 hour'
        where notification_id = ${id} and lease_until is null and not exists (
          select from chunks where notification_id = ${id}
        )
        returning ordinal`;
      return row ?? null;
    });
    await behave(simulator, {});
    await move(tokens[0], 'America/Lima');
    await pass(api, sql, id, 1);
    await pass(api, sql, id, 2);
    t.strictSame(await received(), [0, 1]);
    await sql`update retries set due_at = now() where notification_id = ${id}`;
    t.match(await ended(api, id), { state: 'FINISHED', totalCount: 2, successCount: 2 });
    t.strictSame(await received(), [1, 1]);
    await fanOut.drain();
  },

  async 'pause, resume, cancel and the end hold for all waves'(t, store) {
    const scene = await startScene(t, store, 'held', ['Asia/Tokyo', null, 'America/Lima']);
    const { api, sql, received, fanOut } = scene;
    const order = (id: string, verb: string) => api.call('POST', `/${id}/${verb}`);
    const id = await api.push({ sendAtLocal: LOCAL });
    await pass(api, sql, id, 0);
    t.equal((await order(id, 'pause')).status, 200);
    await bring(sql, id, (await jobOf(api, id)).waves[1].at);
    await planWaves(sql);
    t.match(await jobOf(api, id), { state: 'PAUSED', waves: [{}, { state: 'SCHEDULED' }] });
    await order(id, 'resume');
    await pass(api, sql, id, 1);
    t.strictSame(await received(), [1, 1, 0]);
    await order(id, 'cancel');
    await planWaves(sql);
    const cancelled = await ended(api, id);
    t.match(cancelled, {
      state: 'CANCELLED',
      totalCount: 2,
      waves: [{}, {}, { state: 'CANCELLED' }],
    });
    t.ok(isBalanced(cancelled));
    t.equal(cancelled.nextWaveAt, undefined);
    const ahead = await api.push({ sendAtLocal: LOCAL });
    await order(ahead, 'pause');
    await order(ahead, 'resume');
    t.equal((await jobOf(api, ahead)).state, 'SCHEDULED');
    await order(ahead, 'cancel');
    t.match(await ended(api, ahead), { state: 'CANCELLED', totalCount: 0 });
    const short = await api.push({ sendAtLocal: LOCAL });
    await pass(api, sql, short, 0);
    await sql`update notifications set expires_at = now() where id = ${short}`;
    const expired = await until('all of it has expired', async () => {
      await planWaves(sql);
      await sql`update notifications set next_wave_at = now() where id = ${short} and next_wave_at is not null`;
      const job = await jobOf(api, short);
      return job.finishedAt === undefined ? null : job;
    });
    t.match(expired, { totalCount: 3, successCount: 1, expiredCount: 2 });
    t.strictSame(await received(), [2, 1, 0]);
    await fanOut.drain();
  },

  async 'an hour that has passed'(t, store) {
    const scene = await startScene(t, store, 'late', ['Pacific/Kiritimati', 'Pacific/Niue']);
    const { api, sql, received, fanOut, tokens, move } = scene;
    // In Kiritimati it is a day later than in Niue.
    const now = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
    const id = await api.push({ sendAtLocal: now });
    t.match(await jobOf(api, id), {
      waves: [{ state: 'SKIPPED', zones: ['Pacific/Kiritimati'] }, { state: 'SKIPPED' }, {}],
    });
    t.match(await pass(api, sql, id, 0), { totalCount: 1 });
    t.strictSame(await received(), [0, 1]);
    const all = await api.push({ sendAtLocal: now, late: 'send' });
    await pass(api, sql, all, 0);
    t.strictSame(await received(), [1, 1]);
    await pass(api, sql, all, 1);
    await pass(api, sql, id, 0);
    await ended(api, id);
    t.match(await api.call('POST', `/${id}/retry`, {}), {
      status: 409,
      body: { detail: /whose time had passed/ },
    });
    t.match(await ended(api, all), { totalCount: 2, late: 'send' });
    await move(tokens[0], null);
    const past = {
      tagIds: [api.tenant.tagId],
      payload: { title: 'x' },
      sendAtLocal: '2026-01-01T08:00',
    };
    t.match(await api.call('POST', '', past), {
      status: 400,
      body: { errors: [{ path: 'sendAtLocal', message: /passed in every time zone/ }] },
    });
    await fanOut.drain();
  },

  async 'what is refused, and why'(t, store) {
    const scene = await startScene(t, store, 'refused', ['Asia/Tokyo']);
    const { api, sql, fanOut } = scene;
    const push = (more: object) =>
      api.call('POST', '', { tagIds: [api.tenant.tagId], payload: { title: 'x' }, ...more });
    const refusals: readonly (readonly [object, string, RegExp])[] = [
      [{ sendAtLocal: '2030-01-01T08:00Z' }, 'sendAtLocal', /without a zone/],
      [{ sendAtLocal: '2030-02-30T08:00' }, 'sendAtLocal', /local time/],
      [{ sendAtLocal: 5 }, 'sendAtLocal', /local time/],
      [{ sendAtLocal: LOCAL, sendAt: Date.now() + DAY_MS }, 'sendAtLocal', /beside sendAt/],
      [{ sendAtLocal: LOCAL, holdSeconds: 5 }, 'sendAtLocal', /beside holdSeconds/],
      [{ sendAtLocal: LOCAL, late: 'later' }, 'late', /skip or send/],
      [{ late: 'send' }, 'late', /goes with sendAtLocal/],
      [{ sendAtLocal: LOCAL, expiresAt: Date.now() + DAY_MS }, 'expiresAt', /first wave, 20.*Z/],
      [{ sendAtLocl: LOCAL }, 'sendAtLocl', /nearest is sendAtLocal/],
    ];
    for (const [more, path, message] of refusals) {
      t.match(await push(more), { status: 400, body: { errors: [{ path, message }] } });
    }
    t.match(await push({ sendAtLocal: LOCAL, dryRun: true }), { status: 200 });
    const id = await api.push({ sendAtLocal: LOCAL });
    t.match(await api.call('PATCH', `/${id}`, { sendAt: Date.now() + DAY_MS }), {
      status: 400,
      body: { errors: [{ path: 'sendAt', message: /local time/ }] },
    });
    const other = { tagIds: [api.tenant.tagId], payload: { title: 'y' }, sendAtLocal: LOCAL };
    const replaced = await api.call('POST', `/${id}/replace`, { ...other, late: 'send' });
    t.match(await jobOf(api, replaced.body.id), { late: 'send', waves: [{}, {}] });
    const plain = await jobOf(api, await api.push({ sendAt: Date.now() + DAY_MS }));
    t.notOk('waves' in plain || 'late' in plain || 'sendAtLocal' in plain || 'nextWaveAt' in plain);
    const key = { 'idempotency-key': 'local' };
    const [one, again] = [
      await api.call('POST', '', other, undefined, key),
      await api.call('POST', '', other, undefined, key),
    ];
    t.equal(one.body.id, again.body.id);
    await fanOut.drain();
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0054-retries')`;
    const behind = await startJobsApi(t, store, 'behind');
    const asked = { tagIds: [behind.tenant.tagId], payload: { title: 'x' }, sendAtLocal: LOCAL };
    t.match(await behind.call('POST', '', asked), { status: 503, body: { detail: /old/ } });
    await sql`delete from nodes where host = 'old'`;
  },
});
