/** The expression of an audience over HTTP, wherever the six fields are taken. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../../src/database/store.ts';
import { readAudienceRequest, readPushRequest } from '../../../../src/push/routes/push-request.ts';
import { audienceRequest, pushRequest } from '../../../../src/push/routes/push-schemas.ts';
import { startJobsApi } from '../../../support/jobs-api.ts';
import { makeTag } from '../../../support/notifications.ts';
import { onEachStore } from '../../../support/on-each-store.ts';
import { seedDevices } from '../../../support/seed.ts';

const PAYLOAD = { title: 'goal!' };

/** On iOS three devices of `news`, two of both tags, one of `two words`. */
async function open(t: Test, store: Store, slug: string) {
  const api = await startJobsApi(t, store, slug);
  const { clientId, appId, tagId } = api.tenant;
  const second = await makeTag(store.sql, clientId, { sourceId: 'two words' });
  const seed = (tagIds: readonly number[], count: number) =>
    seedDevices(store.sql, { appId, platformId: 3, tagIds, count });
  await seed([tagId], 3);
  await seed([tagId, second], 2);
  await seed([second], 1);
  return { api, second };
}

await onEachStore(t, {
  async 'it takes the place of the six fields'(t, store) {
    const { api, second } = await open(t, store, 'takes');
    const { tagId, appId } = api.tenant;
    const audience = `news && !"two words" || #${second} && !news`;
    const counts = [
      { appId, platformId: 3, count: 4 },
      { appId, platformId: 15, count: 0 },
    ];
    const dry = await api.call('POST', '/push-api/push', {
      audience,
      payload: PAYLOAD,
      dryRun: true,
    });
    t.same(dry.body, { dryRun: true, audience: counts, unknownTags: [] });
    t.match((await api.call('POST', '/preview', { audience, payload: PAYLOAD })).body, {
      preview: [{ platformId: 3, count: 4 }, { platformId: 15 }],
    });
    const estimate = await api.call('POST', '/estimate', { audience, appIds: [appId] });
    t.same(estimate.body, {
      audience: counts,
      plan: [
        `Devices that have (tag "news" and not tag "two words") or (tag ${second} and not tag "news").`,
        `Only in the apps that were named: app ${appId} on platform 3, app ${appId} on platform 15.`,
        '4 devices, each once.',
      ],
      unknownTags: [],
    });
    const unknown = await api.call('POST', '/estimate', { audience: 'news && x || y' });
    t.match(unknown.body, { audience: [{ count: 0 }, { count: 0 }], unknownTags: ['x', 'y'] });
    t.match(unknown.body.plan, [
      'Devices that have (tag "news" and tag "x") or tag "y".',
      'Nobody has tag "x" and tag "y", unknown or expired.',
    ]);
    const nobody = await api.call('POST', '/estimate', { audience: 'x' });
    t.match(nobody.body.plan, [/./, /^Nobody has tag "x"/, 'Nobody is addressed.']);

    const accepted = await api.call('POST', '', { audience, payload: PAYLOAD });
    t.equal(accepted.status, 202);
    const told = await api.call('GET', `/${accepted.body.id}`);
    t.match(told.body.audience, { expression: audience, tagIds: [tagId, second] });
    const plain = await api.push();
    t.notOk('expression' in (await api.call('GET', `/${plain}`)).body.audience);
    for (const tag of [tagId, second]) {
      const listed = await api.call('GET', `?tagId=${tag}`);
      t.ok(listed.body.some(({ id }: { id: string }) => id === accepted.body.id));
    }
  },

  async 'what is wrong is told with its place'(t, store) {
    const { api } = await open(t, store, 'wrong');
    const { tagId } = api.tenant;
    const faultsOf = async (body: unknown) => {
      const answer = await api.call('POST', '/push-api/push', body);
      t.equal(answer.status, 400);
      return answer.body.errors;
    };
    for (const [audience, position] of [
      ['news &&', 7],
      ['news & x', 5],
      ['news && (x', 8],
      ['!news', 1],
      ['news && !x', 9],
      ['', 0],
    ] as const) {
      t.match(await faultsOf({ audience, payload: PAYLOAD }), [
        { path: 'audience', position, message: String },
      ]);
    }
    for (const audience of [7, ['news'], {}, 'a\0', 'a\ud800']) {
      const [fault] = await faultsOf({ audience, payload: PAYLOAD });
      t.match(fault, { path: 'audience', message: /must be an expression/ });
      t.notOk('position' in fault);
    }
    const beside = { audience: 'news', tagIds: [], filterTagSourceIds: 'x', payload: PAYLOAD };
    t.match(await faultsOf(beside), [
      { path: 'tagIds', message: /beside audience/ },
      { path: 'filterTagSourceIds', message: /beside audience/ },
    ]);
    t.match(await faultsOf({ audience: 'a b', payload: {}, sendAt: 'x' }), [
      { path: 'audience', position: 2 },
      { path: 'sendAt' },
      { path: 'payload' },
    ]);
    const dry = { payload: PAYLOAD, dryRun: true };
    const isTaken = async (body: unknown) =>
      (await api.call('POST', '/push-api/push', body)).status === 200;
    t.ok(await isTaken({ ...dry, audience: 'news', tagIds: null }), 'null is not given');
    t.ok(await isTaken({ ...dry, audience: null, tagIds: [tagId] }));
  },

  async 'a key that is limited to tags: each alternative requires one of them'(t, store) {
    const { api, second } = await open(t, store, 'limited');
    const key = await api.key({ scopes: ['send'], tagIds: [second] });
    const statusOf = async (audience: string) =>
      (await api.call('POST', '', { audience, payload: PAYLOAD, dryRun: true }, key)).status;
    for (const [audience, status] of [
      ['"two words"', 200],
      [`#${second} && !news`, 200],
      ['news && "two words"', 200],
      ['"two words" && (news || !news)', 200],
      [`"two words" && x || #${second} && y`, 200],
      ['!(!"two words" || news)', 200],
      ['news', 403],
      ['"two words" || news', 403],
      ['news && !"two words"', 403],
      ['"two words" && x || news && y', 403],
      ['nobody', 403],
    ] as const) {
      t.equal(await statusOf(audience), status, audience);
    }
    const few = await api.key({ scopes: ['send'], maxDevices: 4 });
    const pushed = async (audience: string) =>
      (await api.call('POST', '', { audience, payload: PAYLOAD }, few)).status;
    t.equal(await pushed('news'), 403, 'five devices');
    t.equal(await pushed('news && !"two words"'), 202, 'three');
  },
});

t.test('null is taken where the document says so, and nowhere else', (t) => {
  const reading = [
    [pushRequest, readPushRequest, { tagIds: [1], payload: PAYLOAD }],
    [audienceRequest, readAudienceRequest, { tagIds: [1] }],
  ] as const;
  for (const [schema, read, body] of reading) {
    for (const name of Object.keys(schema.shape)) {
      const given = { ...body, [name]: null };
      const { ok } = read(Buffer.from(JSON.stringify(given)));
      t.equal(ok, schema.safeParse(given).success, name);
    }
  }
  t.end();
});

t.test('numbers whose digits would change are named; those that are only read are not', (t) => {
  const faults = (body: string) => {
    const read = readPushRequest(Buffer.from(body));
    return read.ok ? [] : read.faults.map(({ path, message }) => `${path} ${message}`);
  };
  const within = (payload: string) =>
    faults(`{"tagIds":[1.0],"ratePerSecond":5.0,"payload":${payload}}`);
  const MESSAGE = /^payload\.(\S+) .*; write it as a string\.$/;
  for (const [payload, path] of [
    ['{"title":"a","data":{"messageId":1234567890123456789}}', 'data.messageId'],
    ['{"title":"a","price":1.10}', 'price'],
    ['{"title":1.10}', 'title'],
    ['{"title":"a","collapseId":10.0}', 'collapseId'],
    ['{"title":"a","apns":{"aps":{"badge":1.0}}}', 'apns.aps.badge'],
    ['{"title":"a","fcm":{"data":{"list":[1,{"n":1e3}]}}}', 'fcm.data.list.1.n'],
    ['{"title":"a","webpush":{"timestamp":9007199254740993}}', 'webpush.timestamp'],
  ] as const) {
    for (const given of [payload, JSON.stringify(payload)]) {
      const [first = '', ...others] = within(given);
      t.equal(MESSAGE.exec(first)?.[1], path, given);
      t.strictSame(others, []);
    }
  }
  for (const payload of [
    '{"title":"a","badge":3.0,"ttl":60.0}',
    '{"title":"a","data":{"messageId":"1234567890123456789","price":"1.10","n":-1.5}}',
  ]) {
    for (const given of [payload, JSON.stringify(payload)]) t.strictSame(within(given), [], given);
  }
  t.match(faults('{"tagIds":[1],"payload":{"price":1.10,"badge":-1}}'), [/price/, /badge/]);
  t.end();
});
