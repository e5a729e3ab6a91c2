/** Everything about one push job, over HTTP and on both stores. */

import t from 'tap';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';

await onEachStore(t, {
  async 'what was submitted, and what has become of it'(t, store) {
    const api = await startJobsApi(t, store, 'told');
    const { sql } = store;
    const { clientId, appId, tagId, superUser } = api.tenant;
    const filter = await makeTag(sql, clientId, { sourceId: 'filter' });
    const exclude = await makeTag(sql, clientId, { sourceId: 'exclude' });
    const expiresAt = Date.now() + 3_600_000;
    const payload = { title: 'goal!', message: '1:0', ttl: 60, priority: 'normal', score: 1 };
    const id = await api.push({
      filterTagIds: [filter],
      excludeTagSourceIds: ['exclude'],
      delivery: 'at-most-once',
      priority: 'urgent',
      expiresAt,
      payload,
    });
    const fresh = await api.call('GET', `/${id}`);
    t.equal(fresh.status, 200);
    t.match(fresh.body, {
      id,
      state: 'QUEUED',
      userName: superUser.username,
      acceptedAt: Number,
      expiresAt,
      totalCount: 0,
      failureReasons: {},
      audience: {
        tagIds: [tagId],
        filterTagIds: [filter],
        excludeTagIds: [exclude],
        appIds: [appId],
        platformIds: [3, 15],
      },
      delivery: 'at-most-once',
      priority: 'urgent',
      payload: { title: 'goal!', message: '1:0', ttl: 60, priority: 'normal', data: { score: 1 } },
      platforms: [
        { appId, platformId: 3, state: 'QUEUED', totalCount: 0 },
        { appId, platformId: 15, state: 'QUEUED', totalCount: 0 },
      ],
    });
    t.notOk('firstSendAt' in fresh.body || 'devicesPerSecond' in fresh.body);
    t.notOk('reach' in fresh.body, 'nothing is recorded yet');
    t.equal(fresh.body.acceptedAt, fresh.body.sendAt, 'it is of the moment');

    await sql`
      update notifications set state = 'FINISHED', finished_at = now(),
        first_send_at = to_timestamp(1700000000), last_send_at = to_timestamp(1700000002)
      where id = ${id}::uuid`;
    await sql`
      update notification_scopes set total = 10, delivered = 7, failed = 2, expired = 1
      where notification_id = ${id}::uuid and platform_id = 3`;
    await sql`
      update notification_scopes set total = 3, failed = 3
      where notification_id = ${id}::uuid and platform_id = 15`;
    await sql`
      insert into failure_reasons (notification_id, app_id, platform_id, reason, count)
      values (${id}, ${appId}, 3, 'BadDeviceToken', 2), (${id}, ${appId}, 15, 'BadDeviceToken', 1),
        (${id}, ${appId}, 15, 'UNREGISTERED', 2)`;
    const { body } = await api.call('GET', `/${id.toUpperCase()}`);
    t.match(body, {
      state: 'FINISHED',
      totalCount: 13,
      successCount: 7,
      failedCount: 5,
      expiredCount: 1,
      firstSendAt: 1_700_000_000_000,
      lastSendAt: 1_700_000_002_000,
      finishedAt: Number,
      devicesPerSecond: 6,
      failureReasons: { BadDeviceToken: 3, UNREGISTERED: 2 },
      platforms: [
        { platformId: 3, totalCount: 10, failureReasons: { BadDeviceToken: 2 } },
        { platformId: 15, totalCount: 3, failureReasons: { BadDeviceToken: 1, UNREGISTERED: 2 } },
      ],
    });
  },

  async 'what is no job is 404'(t, store) {
    const api = await startJobsApi(t, store, 'nothing');
    for (const id of ['x', '019c6f5e-8a53-7d0e-9d3a-6f5c3c0d1e52', 'preview']) {
      const { status } = await api.call('GET', `/${id}`);
      t.ok(status === 404 || (id === 'preview' && status === 405), `${id}: ${status}`);
    }
  },

  async 'submitted in v3: 202, with its place; a dry run 200; the key makes it one'(t, store) {
    const api = await startJobsApi(t, store, 'submits');
    const body = { tagIds: [api.tenant.tagId, 999_999], payload: { title: 'goal!' } };
    const accepted = await api.call('POST', '', body);
    t.equal(accepted.status, 202);
    t.match(accepted.body, { id: String, state: 'QUEUED', unknownTags: [999_999] });
    const place = accepted.headers.get('location') ?? '';
    t.match((await api.call('GET', place)).body, { id: accepted.body.id });
    const dry = await api.call('POST', '', { ...body, dryRun: true });
    t.equal(dry.status, 200);
    t.match(dry.body, { dryRun: true, audience: [{ platformId: 3 }, { platformId: 15 }] });
    const wrong = await api.call('POST', '', { ...body, tagsIds: [1] });
    t.equal(wrong.status, 400);
    const keyed = () =>
      fetch(`${api.baseUrl}/push-api/v3/submits/notifications`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${api.tenant.superUser.token}`,
          'idempotency-key': 'one',
        },
        body: JSON.stringify(body),
      });
    const [one, two] = [await keyed(), await keyed()];
    t.equal(two.status, 202);
    t.strictSame(await two.json(), await one.json());
  },
});
