/** Caps leave devices out, give places back and say so: on both stores. */

import t from 'tap';
import { cappedAt, ended, IOS, startCapped } from '../../support/capped-sends.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';

const HOUR_MS = 3_600_000;

await onEachStore(t, {
  async 'a refusal gives the place back, also to a retry'(t, store) {
    const { api, tagId, send, fanOut, timesOf, change } = await startCapped(t, store, 'refused', {
      categories: cappedAt(1),
      devices: 200,
    });
    await change({ shares: { notFound: 0.4 } });
    const first = await send();
    t.ok(first.failedCount > 20 && first.successCount > 20, `${first.failedCount} refused`);
    await change({ shares: { notFound: 0 } });
    t.match((await api.call('POST', '/estimate', { tagIds: [tagId] })).body, {
      withheldCount: first.successCount,
      withheldReasons: { frequencyCap: first.successCount },
    });
    await change({ shares: { notFound: 0.3 } });
    const retry = await api.call('POST', `/${first.id}/retry`);
    const again = await ended(api, retry.body.id);
    t.match(again, { category: 'news', totalCount: first.failedCount });
    await change({ shares: { notFound: 0 } });
    const second = await send();
    t.equal(second.withheldCount, first.successCount + again.successCount, 'who has it');
    t.equal(second.successCount, again.failedCount, 'and who was refused gets this one');
    t.strictSame(await timesOf(), { 1: 200 });
    t.match(await send(), { withheldCount: 200 });
    await fanOut.drain();
  },

  async 'a retry of a push that ignores caps needs the right to ignore them'(t, store) {
    const { api, send, fanOut, change } = await startCapped(t, store, 'ignoring', {
      categories: cappedAt(1),
      devices: 50,
    });
    await send();
    await change({ shares: { notFound: 0.5 } });
    const first = await send({ caps: 'ignore' });
    t.match(first, { category: 'news', caps: 'ignore', withheldCount: undefined });
    await change({ shares: { notFound: 0 } });
    const retryBy = (token?: string) => api.call('POST', `/${first.id}/retry`, {}, token);
    const sending = await api.key({ scopes: ['send', 'read'] });
    t.match(await retryBy(sending), { status: 403, body: { detail: /override/ } });
    const retry = await retryBy(await api.key({ scopes: ['send', 'override'] }));
    t.equal(retry.status, 202);
    t.match(await ended(api, retry.body.id), {
      caps: 'ignore',
      totalCount: first.failedCount,
      successCount: first.failedCount,
    });
    await fanOut.drain();
  },

  async 'a stage counts those who are sent to'(t, store) {
    const { api, send, fanOut, seed } = await startCapped(t, store, 'staged', {
      categories: cappedAt(1),
      devices: 200,
    });
    await send();
    await seed(300);
    const id = await api.push({ pauseAfter: 30 });
    const paused = await until('it pauses', async () => {
      const { body } = await api.call('GET', `/${id}`);
      return body.state === 'PAUSED' && body.stageEndedAt ? body : null;
    });
    t.equal(paused.successCount, 30);
    t.equal((await api.call('POST', `/${id}/resume`)).status, 200);
    t.match(await ended(api, id), { totalCount: 500, withheldCount: 200, successCount: 300 });
    await fanOut.drain();
  },

  async 'a window ends, and of all categories counts the others'(t, store) {
    const { send, fanOut } = await startCapped(t, store, 'windows', {
      categories: [
        { name: 'news', default: true, caps: [{ max: 1, per: '2h' }] },
        { name: 'offers', caps: [{ max: 3, per: '24h', of: 'all' }] },
        { name: 'breaking' },
      ],
      devices: 20,
    });
    const age = (ms: number) => store.sql`
      update cap_places set last_at = last_at - ${ms}::float8 * interval '1 millisecond'`;
    t.match(await send(), { successCount: 20 });
    t.match(await send(), { withheldCount: 20 });
    await age(2 * HOUR_MS - 60_000);
    t.match(await send(), { withheldCount: 20 });
    await age(60_000);
    t.match(await send(), { successCount: 20 });
    t.match(await send({ category: 'breaking' }), { successCount: 20 });
    t.match(await send({ category: 'offers' }), { withheldCount: 20 }, 'three of all');
    await age(23 * HOUR_MS);
    t.match(await send({ category: 'offers' }), { successCount: 20 }, 'the first has left');
    await fanOut.drain();
  },

  async 'the webhook and the explanation say who was left out'(t, store) {
    const { api, appId, send, fanOut } = await startCapped(t, store, 'told', {
      categories: cappedAt(1),
      devices: 2,
    });
    const { sql } = store;
    await sql`
      insert into webhooks (client_id, url, event_types, secret_sealed, secret_key_id)
      values (${api.tenant.clientId}, 'https://example.test/', ${['job.finished', 'notification.withheld']}::text[], '\\x00', 'k')`;
    const first = await send();
    const second = await send();
    const events = await sql<{ type: string; data: object }[]>`
      select type, data from webhook_events order by id`;
    t.match(
      [...events],
      [
        { type: 'job.finished', data: { jobId: first.id, totalCount: 2, successCount: 2 } },
        {
          type: 'job.finished',
          data: { jobId: second.id, withheldCount: 2, withheldReasons: { frequencyCap: 2 } },
        },
        {
          type: 'notification.withheld',
          data: { jobId: second.id, category: 'news', totalCount: 2, withheldCount: 2 },
        },
      ],
    );
    const [device] = await sql<{ deviceId: string }[]>`
      select device_id as "deviceId" from devices where app_id = ${appId} limit 1`;
    const explain = async (notificationId: string) => {
      const path = `/push-admin-api/v3/told/apps/${appId}/devices/explain`;
      const asked = { platformId: IOS, deviceId: device?.deviceId, notificationId };
      return (await api.call('POST', path, asked)).body;
    };
    t.match(await explain(first.id), { inAudience: true, reached: true, withheld: undefined });
    t.match(await explain(second.id), {
      inAudience: true,
      reached: false,
      withheld: {
        reason: 'frequencyCap',
        category: 'news',
        cap: { max: 1, per: '1d', of: 'category' },
      },
    });
    await fanOut.drain();
  },
});
