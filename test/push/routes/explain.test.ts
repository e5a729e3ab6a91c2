/** `devices/explain` over HTTP, on every store: what a job asks, its limits, and who may ask. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { addTenant } from '../../support/api.ts';
import { declareAttribute } from '../../support/attributes.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { makeTag } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

t.setTimeout(180_000);

const [TOKEN, OTHER] = ['ab'.repeat(32), 'cd'.repeat(32)];

async function open(t: Test, store: Store) {
  const { sql } = store;
  const api = await startJobsApi(t, store, 'acme');
  const { appId, clientId, tagId } = api.tenant;
  const seed = { appId, platformId: 3, count: 1 };
  await seedDevices(sql, { ...seed, tagIds: [tagId], deviceIds: [TOKEN] });
  const path = `/push-admin-api/v3/acme/apps/${appId}/devices/explain`;
  return {
    ...api,
    appId,
    clientId,
    tagId,
    later: (deviceId: string) =>
      seedDevices(sql, { ...seed, tagIds: [tagId], deviceIds: [deviceId] }),
    explain: (body: object, token?: string) =>
      api.call('POST', path, { platformId: 3, deviceId: TOKEN, ...body }, token),
    /** Writes an outcome for the first device, as a report does. */
    async reach(job: string, delivered: number): Promise<void> {
      await sql`
        update notification_scopes set delivered = ${delivered}, reached = 1, reach_noted = 1,
          reach_words = ${Buffer.from([0, 0, 0, 0, 0, 0])}
        where notification_id = ${job} and platform_id = 3`;
    },
    end: (job: string) =>
      sql`update notifications set state = 'FINISHED', finished_at = now(), open_chunks = 0, open_retries = 0 where id = ${job}`,
  };
}

const giveValue = async (
  sql: Store['sql'],
  clientId: number,
  attributeId: number,
  value: string,
) => {
  const [row] = await sql<{ id: number }[]>`
    insert into attribute_values (client_id, attribute_id, value)
    values (${clientId}, ${attributeId}, ${value}) returning id`;
  await sql`update devices set facet_ids = coalesce(facet_ids, '{}') || ${row?.id ?? 0}::integer where device_id = ${TOKEN}`;
};

await onEachStore(t, {
  async 'each operand with what the device has; segments in their places'(t, store) {
    const { call, explain, clientId, tagId } = await open(t, store);
    await makeTag(store.sql, clientId, { sourceId: 'b "c"' });
    await giveValue(store.sql, clientId, -1, 'de-CH');
    await call('POST', '/push-admin-api/v3/acme/segments', {
      name: 'german',
      expression: '@language = de || @country = AT',
    });
    const audience = `(news || nws) && $german && !"b \\"c\\"" && #${tagId} && @registered < 2020-01-01`;
    const { status, body, headers } = await explain({ audience });
    t.equal(status, 200, JSON.stringify(body));
    t.equal(headers.get('cache-control'), 'no-store');
    const { lastEvents, ...answer } = body;
    const [row] = await store.sql<{ day: string }[]>`
      select registered_on::text as day from devices where device_id = ${TOKEN}`;
    t.same(answer, {
      known: true,
      inAudience: false,
      because: [
        { kind: 'tag', operand: 'news', value: true, held: true },
        { kind: 'tag', operand: 'nws', held: false },
        { kind: 'attribute', operand: '@language = de', value: 'de-CH', held: true },
        { kind: 'attribute', operand: '@country = AT', held: false },
        { kind: 'tag', operand: '!"b \\"c\\""', value: false, held: true },
        { kind: 'tag', operand: `#${tagId}`, value: true, held: true },
        { kind: 'attribute', operand: '@registered < 2020-01-01', value: row?.day, held: false },
      ],
    });
    t.match(lastEvents, [{ kind: 'registered', at: Number }]);
    t.match((await explain({ audience: 'news && $german' })).body, { inAudience: true });
    t.match((await explain({ audience: 'nws' })).body, {
      inAudience: false,
      because: [
        { operand: 'nws', held: false },
        { kind: 'nobody', held: false },
      ],
    });
  },

  async 'the wave of a push at local time'(t, store) {
    const { push, explain, clientId } = await open(t, store);
    const id = await push({ sendAtLocal: '2100-05-01T08:00' });
    const waveNow = async () => (await explain({ notificationId: id })).body.wave;
    t.same(await waveNow(), { at: Date.parse('2100-05-01T08:00Z'), isSkipped: false });
    await giveValue(store.sql, clientId, -2, 'Asia/Tokyo');
    t.equal(await waveNow(), undefined, 'nobody had the zone when it was accepted');
    const second = await push({ sendAtLocal: '2100-05-01T08:00' });
    const { body } = await explain({ notificationId: second });
    t.match(body, { inAudience: true, reached: false });
    t.same(body.wave, {
      at: Date.parse('2100-04-30T23:00Z'),
      zone: 'Asia/Tokyo',
      isSkipped: false,
    });
    t.equal((await explain({ notificationId: await push() })).body.wave, undefined);
  },

  async 'a job by its selections, its apps and platforms'(t, store) {
    const { push, explain, clientId, appId, tagId } = await open(t, store);
    const other = await makeTag(store.sql, clientId, {});
    const job = await push({ filterTagIds: [other], excludeTagSourceIds: ['news'] });
    t.same((await explain({ notificationId: job })).body.because, [
      { kind: 'tag', operand: 'news', value: true, held: true },
      { kind: 'tag', operand: `#${other}`, value: false, held: false },
      { kind: 'tag', operand: '!news', value: true, held: false },
    ]);
    const web = await push({ platformIds: [15] });
    const ofWeb = (await explain({ notificationId: web.toUpperCase() })).body;
    t.match(ofWeb, { inAudience: false, reached: false });
    t.notOk('state' in ofWeb, 'it has no part for iOS');
    t.same(ofWeb.because.at(-1), {
      kind: 'platform',
      operand: '@platform = 15',
      value: 3,
      held: false,
    });
    const elsewhere = await push();
    await store.sql`update notification_scopes set app_id = app_id + 1000 where notification_id = ${elsewhere}`;
    const limit = { kind: 'app', operand: `@app = ${appId + 1000}`, value: appId, held: false };
    t.same((await explain({ notificationId: elsewhere })).body.because.at(-1), limit);
    const nobody = await push({ tagIds: [tagId], filterTagSourceIds: ['nws'] });
    t.match((await explain({ notificationId: nobody })).body, {
      inAudience: false,
      because: [{ kind: 'nobody', held: false }],
    });
  },

  async 'a job by the tags and values that it keeps, whatever their names are now'(t, store) {
    const { sql } = store;
    const { call, push, explain, clientId, tagId } = await open(t, store);
    const plan = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    await giveValue(sql, clientId, plan, 'gold');
    const audience = 'news && @plan = gold';
    const job = await push({ tagIds: undefined, audience });
    const because = async () => (await explain({ notificationId: job })).body.because;
    const gold = { kind: 'attribute', operand: '@plan = gold', value: 'gold', held: true };
    t.same(await because(), [{ kind: 'tag', operand: 'news', value: true, held: true }, gold]);
    await sql`update tags set source_id = 'renamed' where id = ${tagId}`;
    await makeTag(sql, clientId, { sourceId: 'news' });
    t.match(await because(), [
      { operand: 'news', held: false },
      gold,
      { operand: 'renamed', held: true },
    ]);
    t.equal((await explain({ notificationId: job })).body.inAudience, true);
    await call('DELETE', '/push-admin-api/v3/acme/attributes/plan');
    await sql`delete from attributes where id = ${plan}`;
    const again = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    await giveValue(sql, clientId, again, 'gold');
    t.match(
      await because(),
      [{}, { operand: '@plan = gold', held: false }, {}],
      'another attribute',
    );
    t.equal((await explain({ notificationId: job })).body.inAudience, false);
  },

  async 'reached: by the reach of the job, as long as it is kept'(t, store) {
    const { sql } = store;
    const { push, explain, reach, end, later } = await open(t, store);
    const scheduled = await push({ sendAt: Date.now() + 3_600_000 });
    t.match((await explain({ notificationId: scheduled })).body, {
      reached: false,
      state: 'SCHEDULED',
    });
    const job = await push();
    await planDue(sql);
    const reachedOf = async (more = {}) =>
      (await explain({ notificationId: job, ...more })).body.reached;
    t.equal(await reachedOf(), 'unknown', 'it is under way');
    await reach(job, 1);
    t.equal(await reachedOf(), true);
    await end(job);
    await later(OTHER);
    const late = (await explain({ notificationId: job, deviceId: OTHER })).body;
    t.match(late, { inAudience: false, reached: false, state: 'FINISHED' });
    t.same(late.because.at(-1), {
      kind: 'registered',
      operand: 'registered before the send',
      held: false,
    });
    await sql`update devices set ordinal = 9000 where device_id = ${TOKEN}`;
    t.match(
      (await explain({ notificationId: job })).body,
      { inAudience: true, reached: true },
      'moved',
    );
    await sql`update notification_scopes set delivered = 2 where notification_id = ${job}`;
    t.equal(await reachedOf({ deviceId: OTHER }), 'unknown', 'an older node has sent a part');
    await sql`update notification_scopes set reached = null, reach_words = null, total = 2 where notification_id = ${job}`;
    t.equal(await reachedOf(), 'gone');
    t.notOk('reached' in (await explain({ audience: 'news' })).body, 'of no job');
  },

  async 'what a name meant at acceptance counts, not what it means now'(t, store) {
    const { sql } = store;
    const { push, explain, clientId } = await open(t, store);
    const job = await push({ tagIds: undefined, audience: 'news || fresh' });
    const ofAll = await push({ tagIds: undefined, audience: '* || news' });
    const fresh = await makeTag(sql, clientId, { sourceId: 'fresh' });
    await sql`update devices set tag_ids = tag_ids || ${fresh}::integer`;
    t.same((await explain({ notificationId: job })).body.because, [
      { kind: 'tag', operand: 'news', value: true, held: true },
      { kind: 'tag', operand: 'fresh', held: false },
    ]);
    const both = [
      { operand: '*', held: true },
      { operand: 'news', held: true },
    ];
    t.match((await explain({ notificationId: ofAll })).body.because, both, 'it cannot decide');
    await sql`update devices set tag_ids = ${[fresh]}::integer[]`;
    t.match((await explain({ notificationId: job })).body, { inAudience: false });
  },

  async 'tags that are lost before a job is planned address nobody'(t, store) {
    const { sql } = store;
    const { push, explain, clientId, tagId } = await open(t, store);
    const sendAt = Date.now() + 3_600_000;
    const filter = await makeTag(sql, clientId, { sourceId: 'filter' });
    const jobs = [
      await push({ sendAt }),
      await push({ sendAt, tagIds: undefined, audience: 'news || filter' }),
      await push({ sendAt, tagIds: undefined, audience: '* && filter' }),
    ];
    await sql`update devices set tag_ids = ${[tagId, filter]}::integer[]`;
    const answers = () =>
      Promise.all(
        jobs.map(async (notificationId) => {
          const { inAudience, because } = (await explain({ notificationId })).body;
          return [inAudience, ...because.map(({ held }: { held: boolean }) => held)];
        }),
      );
    t.same(await answers(), [
      [true, true],
      [true, true, true],
      [true, true, true],
    ]);
    await sql`update tags set expires_at_ms = 1000 where id = ${tagId}`;
    t.same(await answers(), [
      [false, false, false],
      [true, false, true],
      [true, true, true],
    ]);
    await sql`update tags set deleted_at = now() where id = ${filter}`;
    t.same(await answers(), [
      [false, false, false],
      [false, false, false, false],
      [false, true, false, false],
    ]);
  },

  async 'a part that had nobody when it was planned; a retry of what has reached it'(t, store) {
    const { sql } = store;
    const { push, explain, clientId, tagId, later, reach, end, call } = await open(t, store);
    const filter = await makeTag(sql, clientId, { sourceId: 'filter' });
    const more = { filterTagIds: [filter] };
    const cancelled = await push(more);
    await call('POST', `/${cancelled}/cancel`);
    const job = await push(more);
    t.equal((await planDue(sql))[0]?.scopes.length, 0);
    await sql`update devices set tag_ids = ${[tagId, filter]}::integer[]`;
    const limits = async (notificationId: string, deviceId = TOKEN) => {
      const { inAudience, because } = (await explain({ notificationId, deviceId })).body;
      const held = because.filter((one: { held: boolean }) => !one.held);
      return [inAudience, ...held.map(({ kind }: { kind: string }) => kind)];
    };
    t.same(await limits(job), [false, 'planned']);
    t.same(await limits(cancelled), [true]);

    await later(OTHER);
    const first = await push();
    await planDue(sql);
    await reach(first, 1);
    await end(first);
    const retry = await push();
    await sql`update notifications set retries = ${first} where id = ${retry}`;
    t.same(await limits(retry), [false, 'reached-before']);
    t.same(await limits(retry, OTHER), [true]);
    t.same(await limits(first), [true]);
    const { because } = (await explain({ notificationId: retry })).body;
    t.equal(because.at(-1).operand, `not reached by ${first} or a retry of it`);
  },

  async 'a fault that stopped the send is said'(t, store) {
    const { push, explain } = await open(t, store);
    const job = await push();
    await store.sql`update notification_scopes set fault = 'InvalidProviderToken' where notification_id = ${job}`;
    const { body } = await explain({ notificationId: job });
    t.match(body, { inAudience: true, fault: /^InvalidProviderToken: / });
    t.notOk('simulated' in body);
    await store.sql`update notification_scopes set simulated = true where notification_id = ${job}`;
    t.match((await explain({ notificationId: job })).body, { simulated: true });
  },

  async 'what is kept of the device; one that is not known'(t, store) {
    const { sql } = store;
    const { push, explain, appId } = await open(t, store);
    const job = await push();
    const note = (
      kind: string,
      notificationId: string | null,
      hours: number,
      deviceId = TOKEN,
    ) => sql`
      insert into device_events (device_key, app_id, platform_id, kind, notification_id, at, reason)
      values (${deviceRef(appId, 3, deviceId).deviceKey}::uuid, ${appId}, 3, ${kind}, ${notificationId},
        now() - make_interval(hours => ${hours}::integer), 'Unregistered')`;
    await note('failed', job, 99);
    for (let hours = 1; hours <= 20; hours += 1) {
      const [row] = await sql<{ id: string }[]>`select gen_random_uuid() as id`;
      await note('failed', row?.id ?? null, hours);
    }
    const { lastEvents } = (await explain({ notificationId: job })).body;
    t.equal(lastEvents.length, 21, '20, and its registration');
    t.match(lastEvents.at(-1), { kind: 'failed', notificationId: job, reason: 'Unregistered' });
    t.equal((await explain({ audience: 'news' })).body.lastEvents.length, 21);
    t.match((await explain({ notificationId: job })).body, { reached: false });
    await sql`update notifications set send_at = now() - interval '5 days' where id = ${job}`;
    await note('removed', null, 98);
    const again = (await explain({ notificationId: job })).body;
    t.match(again, { reached: 'unknown' }, 'it came again');
    const listed = again.lastEvents.map(({ kind }: { kind: string }) => kind);
    t.notOk(listed.includes('removed'), 'which 20 others hide');

    const unknown = (await explain({ notificationId: job, deviceId: OTHER })).body;
    t.same(unknown, {
      known: false,
      inAudience: false,
      because: [],
      reached: 'unknown',
      state: 'QUEUED',
      lastEvents: [],
    });
    await note('removed', job, 1, OTHER);
    t.match((await explain({ audience: 'news', deviceId: OTHER })).body, {
      known: false,
      lastEvents: [{ kind: 'removed', notificationId: job }],
    });
  },

  async 'what is not valid is said; there is no such job'(t, store) {
    const { explain, call, push, appId } = await open(t, store);
    const job = await push();
    for (const [body, path] of [
      [{}, 'notificationId'],
      [{ notificationId: job, audience: 'news' }, 'notificationId'],
      [{ notificationId: 'x' }, 'notificationId'],
      [{ audience: '' }, 'audience'],
      [{ audience: 'news &&' }, 'audience'],
      [{ audience: '@country = CH' }, 'audience'],
      [{ audience: 'news && @contry' }, 'audience'],
      [{ audience: 'news && $none' }, 'audience'],
      [{ audience: 'news && !nws' }, 'audience'],
      [{ audience: 'news', platformId: 7 }, 'platformId'],
      [{ audience: 'news', deviceId: '' }, 'deviceId'],
      [{ audience: 'news', tagIds: [1] }, 'tagIds'],
    ] as const) {
      const answer = await explain(body);
      t.equal(answer.status, 400, JSON.stringify(body));
      t.match(answer.body.errors, [{ path }], JSON.stringify(body));
    }
    const none = '00000000-0000-7000-8000-000000000000';
    t.equal((await explain({ notificationId: none })).status, 404);
    const other = await addTenant(store.sql, 'other');
    const path = `/push-admin-api/v3/other/apps/${other.appId}/devices/explain`;
    const body = { platformId: 3, deviceId: TOKEN, notificationId: job };
    t.equal(
      (await call('POST', path, body, other.superUser.token)).status,
      404,
      "another client's job",
    );
    const foreign = `/push-admin-api/v3/other/apps/${appId}/devices/explain`;
    t.equal((await call('POST', foreign, body, other.superUser.token)).status, 404, 'and app');
    t.match(
      (
        await call(
          'POST',
          path,
          { ...body, notificationId: undefined, audience: '*' },
          other.superUser.token,
        )
      ).body,
      { known: false },
    );
  },

  async 'who may ask: keys with limits, and about personal attributes'(t, store) {
    const { sql } = store;
    const { call, explain, key, push, clientId, appId, tagId } = await open(t, store);
    const creed = await declareAttribute(sql, clientId, {
      name: 'creed',
      type: 'text',
      isPersonal: true,
    });
    await giveValue(sql, clientId, creed, 'gerbil');
    const audience = 'news && @creed = gerbil';
    const job = await push({ tagIds: undefined, audience });
    const plain = await push();
    const read = { scopes: ['read'] } as const;
    const reader = await key(read);
    for (const body of [{ audience }, { notificationId: job }]) {
      for (const token of [reader, await key({ scopes: ['read', 'personal'] })]) {
        const refused = await explain(body, token);
        t.equal(refused.status, 403);
        t.match(refused.body, { detail: /@creed is personal/ });
      }
      const { inAudience, because } = (await explain(body)).body;
      t.match({ inAudience, because }, { inAudience: true, because: [{}, { value: 'gerbil' }] });
    }
    await sql`
      insert into device_events (device_key, app_id, platform_id, kind, notification_id, reason)
      values (${deviceRef(appId, 3, TOKEN).deviceKey}::uuid, ${appId}, 3, 'failed', ${job}, 'Shutdown')`;
    const failureFor = async (token?: string) =>
      (await explain({ audience: 'news' }, token)).body.lastEvents.find(
        ({ kind }: { kind: string }) => kind === 'failed',
      ).notificationId;
    t.same([await failureFor(), await failureFor(reader)], [job, undefined]);
    const undecided = '* || (news && @creed = gerbil)';
    const ofAll = await push({ tagIds: undefined, audience: undecided });
    for (const body of [{ audience: undecided }, { notificationId: ofAll }]) {
      t.equal((await explain(body, reader)).status, 403, 'also where it cannot decide');
    }
    await sql`update notifications set audience_expression = '(' where id = ${job}`;
    t.equal((await explain({ notificationId: job }, reader)).status, 403, 'also by its condition');
    t.equal((await explain({ notificationId: plain }, reader)).status, 200);
    t.equal((await explain({ audience: 'news' }, await key({ scopes: ['send'] }))).status, 403);
    t.equal(
      (await explain({ audience: 'news' }, await key({ ...read, tagIds: [tagId] }))).status,
      403,
    );
    t.equal(
      (await explain({ audience: 'news' }, await key({ ...read, appIds: [appId + 1] }))).status,
      403,
    );
    const ofApp = await key({ scopes: ['read', 'send'], appIds: [appId] });
    t.equal((await explain({ audience: 'news' }, ofApp)).status, 200);
    t.equal((await explain({ notificationId: plain }, ofApp)).status, 404, 'of another publisher');
    const terms = { name: 'all', expression: 'news' };
    await call('POST', '/push-admin-api/v3/acme/segments', terms);
    t.equal((await explain({ audience: '$all' }, reader)).status, 200);
    const [second] = await sql<{ id: number }[]>`
      insert into apps (client_id, name) values (${clientId}, 'Second') returning id`;
    await sql`insert into app_platforms (app_id, platform_id) values (${second?.id ?? 0}, 3)`;
    await makeTag(sql, clientId, { sourceId: 'elsewhere', appIds: [second?.id ?? 0] });
    const elsewhere = async (token?: string) =>
      (await explain({ audience: 'elsewhere' }, token)).body.because.at(-1).kind;
    t.same([await elsewhere(), await elsewhere(ofApp)], ['app', 'tag'], 'apps of others');
    const hidden = await explain({ audience: '$all' }, ofApp);
    t.match(hidden, { status: 403, body: { detail: /reads no segments/ } });
    const own = await push({}, ofApp);
    t.equal((await explain({ notificationId: own }, ofApp)).status, 200);
  },
});
