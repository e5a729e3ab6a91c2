/** The preview of a push and its audience, over HTTP and on both stores: nothing is sent. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import type { JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

/** Seven devices on iOS; on Android two of both tags and three of the second one only. */
async function startSeeded(
  t: Test,
  store: Store,
  slug: string,
): Promise<{ readonly api: JobsApi; readonly second: number }> {
  const api = await startJobsApi(t, store, slug);
  const { clientId, appId, tagId } = api.tenant;
  const second = await makeTag(store.sql, clientId, { sourceId: 'second' });
  const seed = (platformId: number, tagIds: readonly number[], count: number) =>
    seedDevices(store.sql, { appId, platformId, tagIds, count });
  await seed(3, [tagId], 7);
  await seed(15, [tagId, second], 2);
  await seed(15, [second], 3);
  return { api, second };
}

const jobs = async (store: Store): Promise<number> => {
  const [row] = await store.sql<{ count: number }[]>`select count(*) from notifications`;
  return row?.count ?? 0;
};

await onEachStore(t, {
  async 'what a phone will not do is said, with the preview and with the answer'(t, store) {
    const { api } = await startSeeded(t, store, 'warned');
    const { tagId } = api.tenant;
    const warnings = [/^On iOS this does nothing/];
    const data = { tagIds: [tagId], payload: { data: { a: 1 } } };
    t.match((await api.call('POST', '/preview', data)).body, { warnings });
    t.match((await api.call('POST', '', data)).body, { state: 'QUEUED', warnings });
    const dry = await api.call('POST', '/push-api/push', { ...data, dryRun: true });
    t.match(dry.body, { dryRun: true, warnings });
    const shown = { ...data, payload: { ...data.payload, title: 'a' } };
    for (const path of ['/preview', '']) {
      t.notOk('warnings' in (await api.call('POST', path, shown)).body, path);
    }
    const wake = {
      ...data,
      payload: { ...data.payload, apns: { aps: { 'content-available': 1 } } },
    };
    t.notOk('warnings' in (await api.call('POST', '/preview', wake)).body);
    const voip = { ...data, payload: { apnsPushType: 'voip', data: { x: 'x'.repeat(4_500) } } };
    t.match((await api.call('POST', '/preview', { ...voip, appIds: [api.tenant.appId] })).body, {
      errors: [{ path: 'payload', message: /platform 15/ }],
    });
    for (const path of ['/preview', '']) {
      const refused = {
        ...data,
        payload: { title: 'a', fcm: { android: { data: { from: 'a' } } } },
      };
      t.match(await api.call('POST', path, refused), {
        status: 400,
        body: { errors: [{ path: 'payload.fcm.android.data.from' }] },
      });
    }
  },

  async 'the message of each platform, its size and its audience'(t, store) {
    const { api } = await startSeeded(t, store, 'previewed');
    const { tagId, appId } = api.tenant;
    const body = { tagIds: [tagId], payload: { title: 'gôal!', score: 1 } };
    const { status, body: answer } = await api.call('POST', '/preview', body);
    t.equal(status, 200);
    const pushId = '00000000-0000-0000-0000-000000000000';
    t.match(answer, {
      preview: [
        {
          appId,
          platformId: 3,
          provider: 'APNs',
          count: 7,
          sizeBytesMax: 4_096,
          message: { aps: { alert: { title: 'gôal!' } }, score: 1, pushId },
        },
        {
          appId,
          platformId: 15,
          provider: 'FCM',
          count: 2,
          sizeBytesMax: 4_096,
          message: {
            notification: { title: 'gôal!' },
            data: { title: 'gôal!', score: '1', pushId },
          },
        },
      ],
      unknownTags: [],
    });
    for (const { sizeBytes, message } of answer.preview) {
      t.equal(sizeBytes, Buffer.byteLength(JSON.stringify(message)));
    }
    const tooLarge = { ...body, payload: { message: 'x'.repeat(5_000) } };
    t.match(await api.call('POST', '/preview', tooLarge), {
      status: 400,
      body: { errors: [{ path: 'payload', message: /platform 3.*4096/ }, {}] },
    });
    const past = { ...body, expiresAt: Date.now() - 3_600_000 };
    t.match(await api.call('POST', '/preview', past), {
      status: 400,
      body: { errors: [{ path: 'expiresAt' }] },
    });
    t.equal(await jobs(store), 0, 'no job is made');
  },

  async 'an approximate estimate concludes from some device groups'(t, store) {
    const api = await startJobsApi(t, store, 'approximated');
    const { tagId, appId } = api.tenant;
    const seed = (platformId: number, count: number, step: number) =>
      seedDevices(store.sql, { appId, platformId, tagIds: [tagId], count, step });
    await seed(15, 5, 8_192);
    // Thirty-one groups, seven in the first of them and one in each of the others.
    await seed(3, 6, 1);
    await seed(3, 31, 8_192);
    const estimate = async (more: object) => {
      const { status, body } = await api.call('POST', '/estimate', { audience: 'news', ...more });
      t.equal(status, 200);
      return body;
    };
    const exact = await estimate({ approximate: false });
    t.match(exact, { audience: [{ count: 37 }, { count: 5 }] });
    t.notOk('approximate' in exact);
    const about = await estimate({ approximate: true });
    t.match(about, { audience: [{ count: Math.round((22 * 31) / 16) }, { count: 5 }] });
    t.equal(about.approximate, true);
    t.match(about.plan.at(-1), /^About 48 devices, each once/);
    const few = await makeTag(store.sql, api.tenant.clientId, { sourceId: 'few' });
    await seedDevices(store.sql, { appId, platformId: 15, tagIds: [few], count: 5, step: 8_192 });
    const whole = await estimate({ approximate: true, audience: 'few' });
    t.match(whole, { audience: [{ count: 0 }, { count: 5 }] });
    t.match(whole.plan.at(-1), '5 devices, each once.');
    t.notOk('approximate' in whole, 'every group was looked at');
    t.match(await api.call('POST', '/estimate', { audience: 'news', approximate: 1 }), {
      status: 400,
      body: { errors: [{ path: 'approximate' }] },
    });
    const push = { audience: 'news', payload: { title: 'x' }, approximate: true };
    t.match(await api.call('POST', '', push), {
      status: 400,
      body: { errors: [{ path: 'approximate' }] },
    });
  },

  async 'an estimate counts, and says how'(t, store) {
    const { api, second } = await startSeeded(t, store, 'estimated');
    const { tagId, appId } = api.tenant;
    const estimate = (body: unknown, token?: string) => api.call('POST', '/estimate', body, token);
    const counts = (onApns: number, onFcm: number) => [
      { appId, platformId: 3, count: onApns },
      { appId, platformId: 15, count: onFcm },
    ];
    const both = await estimate({ tagIds: [tagId], tagSourceIds: ['second', 'nobody'] });
    t.equal(both.status, 200);
    t.match(both.body, { audience: counts(7, 5), unknownTags: ['nobody'] });
    t.same(both.body.plan, [
      `Devices that have tag ${tagId} or tag "second".`,
      `In every app that a target tag is connected to: app ${appId} on platform 3, app ${appId} on platform 15.`,
      '12 devices, each once.',
    ]);
    const narrow = await estimate({
      tagIds: [tagId],
      filterTagIds: [second],
      excludeTagSourceIds: ['news'],
      appIds: [appId],
    });
    t.match(narrow.body, { audience: counts(0, 0) });
    t.match(narrow.body.plan, [
      `Devices that have tag ${tagId}.`,
      `Of these only devices that also have tag ${second}.`,
      'None of the devices that have tag "news".',
      /^Only in the apps that were named/,
      '0 devices, each once.',
    ]);
    const nobody = await estimate({ tagIds: [999_999], filterTagIds: [999_998] });
    t.match(nobody.body.plan, [
      /nobody is addressed/,
      /also have tag 999998/,
      /tag 999998, unknown or expired: nobody is left/,
      /./,
      /^0 devices/,
    ]);

    for (const [wrong, path] of [
      [{ tagIds: [tagId], payload: { title: 'x' } }, 'payload'],
      [{ tagIds: [tagId], audience: 'a && b' }, 'tagIds'],
      [{}, 'tagIds'],
    ] as const) {
      t.match(await estimate(wrong), { status: 400, body: { errors: [{ path }] } });
    }
    const limited = await api.key({ scopes: ['send'], tagIds: [second] });
    t.equal((await estimate({ tagIds: [second] }, limited)).status, 200);
    t.equal((await estimate({ tagIds: [tagId] }, limited)).status, 403);
    t.equal(await jobs(store), 0);
  },
});
