/** A push for some platforms: counted, planned and shown for these alone. */

import t from 'tap';
import { insertApp } from '../../../../src/catalogue/sql/insert-app.ts';
import type { Store } from '../../../../src/database/store.ts';
import { planDue } from '../../../../src/push/sql/notifications/plan-due.ts';
import { startJobsApi } from '../../../support/jobs-api.ts';
import { makeTag } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { seedDevices } from '../../../support/seed.ts';

const IOS = 3;
const ANDROID = 15;
const WEB = 7;
const PAYLOAD = { title: 'goal!' };

const plannedPlatforms = ({ sql }: Store, id: string) =>
  sql<{ platformId: number }[]>`
    select distinct platform_id as "platformId" from chunks where notification_id = ${id}::uuid`;

await onEachStore(t, {
  async 'only these get it, at once and later'(t, store) {
    const api = await startJobsApi(t, store, 'platforms');
    const { appId, tagId } = api.tenant;
    for (const [platformId, count] of [
      [IOS, 3],
      [ANDROID, 2],
    ] as const) {
      await seedDevices(store.sql, { appId, platformId, tagIds: [tagId], count });
    }
    const body = { tagIds: [tagId], platformIds: [IOS] };
    const onIos = [{ appId, platformId: IOS, count: 3 }];
    const estimate = await api.call('POST', '/estimate', body);
    t.same(estimate.body, {
      audience: onIos,
      plan: [
        `Devices that have tag ${tagId}.`,
        `Only on the platforms that were named: app ${appId} on platform 3.`,
        '3 devices, each once.',
      ],
      unknownTags: [],
    });
    const dry = await api.call('POST', '', { ...body, payload: PAYLOAD, dryRun: true });
    t.same(dry.body.audience, onIos);
    const both = await api.call('POST', '/estimate', {
      ...body,
      platformIds: `${ANDROID}`,
      appIds: appId,
    });
    t.match(both.body, {
      audience: [{ platformId: ANDROID, count: 2 }],
      plan: [String, /^Only in the apps and on the platforms that were named: /, String],
    });
    t.equal(both.body.audience.length, 1);

    const now = await api.push({ platformIds: [IOS] });
    const later = await api.push({ platformIds: [ANDROID], sendAt: Date.now() + 3_600_000 });
    const whole = await api.push();
    await planDue(store.sql);
    t.same(await plannedPlatforms(store, now), [{ platformId: IOS }]);
    await store.sql`update notifications set send_at = now() where id = ${later}::uuid`;
    await planDue(store.sql);
    t.same(await plannedPlatforms(store, later), [{ platformId: ANDROID }]);
    t.equal((await plannedPlatforms(store, whole)).length, 2, 'every platform without them');
    const shown = await api.call('GET', `/${later}`);
    t.same(shown.body.audience.platformIds, [ANDROID]);
    t.same(shown.body.platforms.length, 1);
    const status = await api.call('GET', `/push-api/status/${later}`);
    t.match(status.body, [{ key: { platformId: ANDROID } }]);
    t.equal(status.body.length, 1);
  },

  async 'a platform that would reach nobody is refused'(t, store) {
    const api = await startJobsApi(t, store, 'no-platform');
    const { clientId, tagId } = api.tenant;
    const web = await insertApp(store.sql, { clientId, name: 'Site', platformIds: [WEB] });
    const ofWeb = await makeTag(store.sql, clientId, { sourceId: 'web', appIds: [web] });
    const faults = async (more: object) => {
      const answer = await api.call('POST', '', { tagIds: [tagId], payload: PAYLOAD, ...more });
      t.equal(answer.status, 400);
      return answer.body.errors;
    };
    t.match(await faults({ platformIds: [] }), [
      { path: 'platformIds', message: /names no platform/ },
    ]);
    t.match(await faults({ platformIds: [4] }), [{ path: 'platformIds', message: /not 4/ }]);
    t.match(await faults({ platformIds: [IOS, 'x'] }), [{ path: 'platformIds.1' }]);
    t.match(await faults({ platformIds: [IOS], appIds: [web] }), [
      { path: 'platformIds', message: /^No app of this push is on any/ },
    ]);
    t.match(await faults({ platformIds: [IOS], appIds: [999_999] }), [{ path: 'appIds' }]);
    t.match(await faults({ platform_ids: [IOS] }), [{ message: /the nearest is platformIds/ }]);
    const id = await api.push({ tagIds: [tagId, ofWeb], platformIds: [WEB, IOS], appIds: [web] });
    t.match((await api.call('GET', `/push-api/status/${id}`)).body, [{ key: { platformId: WEB } }]);
  },

  async 'only what its platforms would refuse is wrong with a payload'(t, store) {
    const api = await startJobsApi(t, store, 'payload-of-platform');
    const payload = { title: 'goal!', data: { 'gcm.notification.x': 1 } };
    const asked = (platformIds: readonly number[]) =>
      api.call('POST', '/preview', { tagIds: [api.tenant.tagId], platformIds, payload });
    t.equal((await asked([ANDROID])).status, 400);
    const shown = await asked([IOS]);
    t.match(shown, { status: 200, body: { preview: [{ platformId: IOS }] } });
  },
});
