import t from 'tap';
import type { StoreFault } from '../../../src/database/faults.ts';
import { faultOf } from '../../../src/database/faults.ts';
import { PatientReads } from '../../../src/database/patient-reads.ts';
import { connect } from '../../../src/database/sql.ts';
import type { Caller } from '../../../src/domain/caller.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../../src/http/handler.ts';
import { Accept } from '../../../src/push/accept/accept.ts';
import { pushRoute } from '../../../src/push/routes/push.ts';
import { statusRoute } from '../../../src/push/routes/status.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import { evaluator } from '../../support/evaluator.ts';
import { NEVER_AT_ONCE } from '../../support/never-at-once.ts';
import { makeTag, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { seedDevices } from '../../support/seed.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { temporaryStore } from '../../support/store.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const PAYLOAD = { title: 'goal!' };

const store = await temporaryStore(t);
const { sql } = store;
const accept = new Accept({
  replaceableDefault: true,
  atOnce: NEVER_AT_ONCE,
  journal: SILENT_JOURNAL,
  sql,
  patientReads: store.patientReads,
  tagIndex: new SqlTagIndex(sql),
  evaluator,
  isSimulated: () => false,
  onAccepted: () => undefined,
});
const route = pushRoute(accept, store.sql);
const status = statusRoute(store.patientReads) as ApiRoute;
const tenant = await makeTenant(sql, 'demo');
const foreign = await makeTenant(sql, 'foreign');
const secondTag = await makeTag(sql, tenant.clientId, { sourceId: 'second' });
await seedDevices(sql, { appId: tenant.appId, platformId: 3, tagIds: [tenant.tagId], count: 7 });
await seedDevices(sql, { appId: tenant.appId, platformId: 15, tagIds: [secondTag], count: 3 });
await seedDevices(sql, {
  appId: tenant.appId,
  platformId: 15,
  tagIds: [tenant.tagId, secondTag],
  count: 2,
});

const caller: Caller = {
  role: 'super-user',
  clientId: tenant.clientId,
  clientSlug: 'demo',
  appId: null,
  userName: 'publisher',
  method: 'bearer',
};

function request(
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  params: Readonly<Record<string, string>> = {},
): HttpRequest {
  return {
    method: 'POST',
    path: '/push-api/push',
    params,
    query: new URLSearchParams(),
    header: (name) => headers[name] ?? '',
    hasHeader: (name) => headers[name] !== undefined,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    address: '127.0.0.1',
    isSecure: false,
    requestId: 'request-1',
  };
}

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  Promise.resolve(route.handle(request(body, headers), caller));
const get = (id: string, by: Caller = caller) =>
  Promise.resolve(status.handle(request('', {}, { id }), by));
const jsonOf = (response: HttpResponse) => JSON.parse(String(response.body));

/** Devices that a push would reach. */
async function audienceOf(body: Readonly<Record<string, unknown>>): Promise<number> {
  const response = await post({ payload: PAYLOAD, dryRun: true, ...body });
  if (response.status !== 200) throw new Error(String(response.body));
  return jsonOf(response).audience.reduce(
    (sum: number, { count }: { count: number }) => sum + count,
    0,
  );
}

async function faultsOf(body: unknown): Promise<string> {
  const response = await post(body);
  t.equal(response.status, 400, JSON.stringify(body));
  t.equal(response.headers?.['Content-Type'], 'application/problem+json');
  return JSON.stringify(jsonOf(response).errors);
}

t.test('the answer is the job id as text, or JSON when it is asked for', async (t) => {
  const text = await post({ tagIds: [tenant.tagId], payload: PAYLOAD });
  t.equal(text.status, 200);
  t.equal(text.headers?.['Content-Type'], 'text/plain');
  t.match(String(text.body), UUID_V7);
  const json = await post(
    { tagIds: [tenant.tagId, 1_000_000], payload: PAYLOAD },
    { accept: 'application/json' },
  );
  t.match(jsonOf(json), { id: UUID_V7, state: 'QUEUED', unknownTags: [1_000_000] });
  const likeAxios = { accept: 'application/json, text/plain, */*' };
  t.match(
    String((await post({ tagIds: [tenant.tagId], payload: PAYLOAD }, likeAxios)).body),
    UUID_V7,
  );
});

t.test('delivery: at least once unless asked otherwise, and nothing else', async (t) => {
  const asked = { tagIds: [tenant.tagId], payload: PAYLOAD };
  const isAtMostOnce = async (body: unknown) => {
    const id = String((await post(body)).body);
    const [row] = await sql`select at_most_once as asked from notifications where id = ${id}`;
    return row?.['asked'];
  };
  t.equal(await isAtMostOnce(asked), false);
  t.equal(await isAtMostOnce({ ...asked, delivery: 'at-least-once' }), false);
  t.equal(await isAtMostOnce({ ...asked, delivery: 'at-most-once' }), true);
  t.match(
    await faultsOf({ ...asked, delivery: 'exactly-once' }),
    'delivery","message":"must be at-least-once or at-most-once.',
  );
});

t.test('the status says what is uncertain and what is held, where anything is', async (t) => {
  const id = String((await post({ tagIds: [tenant.tagId], payload: PAYLOAD })).body);
  const [plain] = jsonOf(await get(id));
  t.notOk('uncertainCount' in plain || 'heldDeletionCount' in plain);
  await sql`
    update notification_scopes set uncertain = 3, deletions = 'held', held_deletions = 150
    where notification_id = ${id}`;
  t.match(jsonOf(await get(id))[0], { uncertainCount: 3, heldDeletionCount: 150 });
  await sql`update notification_scopes set deletions = 'released' where notification_id = ${id}`;
  t.notOk('heldDeletionCount' in jsonOf(await get(id))[0], 'decided');
  await sql`update notification_scopes set deletions = null where notification_id = ${id}`;
});

t.test('the status says what is parked, and what to do', async (t) => {
  const id = String((await post({ tagIds: [tenant.tagId], payload: PAYLOAD })).body);
  t.notOk('parkedCount' in jsonOf(await get(id))[0]);
  await sql`
    insert into chunks (notification_id, app_id, platform_id, group_number, available_at, parked_at, parked_devices)
    select notification_id, app_id, platform_id, 0, 'infinity', now(), 7
    from notification_scopes where notification_id = ${id}`;
  const expected = { parkedCount: 7, fault: /^Parked: .*tagcast parked release/ };
  t.match(jsonOf(await get(id))[0], expected);
  await sql`delete from chunks where notification_id = ${id}`;
});

t.test('any of the targets, all of the filters, none of the exclusions', async (t) => {
  t.equal(await audienceOf({ tagIds: [tenant.tagId] }), 9);
  t.equal(await audienceOf({ tagIds: [tenant.tagId, secondTag] }), 12, 'each device once');
  t.equal(await audienceOf({ tagIds: [tenant.tagId], filterTagIds: [secondTag] }), 2);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], excludeTagIds: [secondTag] }), 7);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], filterTagSourceIds: 'second' }), 2);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], excludeTagSourceIds: ['second'] }), 7);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], filterTagIds: [999_999] }), 0);
});

t.test('parameters are read leniently', async (t) => {
  t.equal(await audienceOf({ tagIds: tenant.tagId }), 9, 'one value for an array');
  t.equal(await audienceOf({ tagIds: [String(tenant.tagId)] }), 9, 'an id as a string of digits');
  t.equal(await audienceOf({ tagIds: String(tenant.tagId) }), 9);
  t.equal(await audienceOf({ tagSourceIds: 'second' }), 5);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], tagSourceIds: ['second'] }), 12, 'the union');
  t.equal(await audienceOf({ tagIds: [], tagSourceIds: ['second'] }), 5);
  t.equal(await audienceOf({ tagIds: [] }), 0);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], appIds: String(tenant.appId) }), 9);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], payload: JSON.stringify(PAYLOAD) }), 9);
  t.equal(await audienceOf({ tagIds: [tenant.tagId], dryRun: 'true' }), 9);
});

t.test('a foreign tag is unknown', async (t) => {
  const response = await post({ tagIds: [foreign.tagId], payload: PAYLOAD, dryRun: true });
  t.match(jsonOf(response), { dryRun: true, unknownTags: [foreign.tagId] });
  t.equal(await audienceOf({ tagIds: [foreign.tagId] }), 0);
});

t.test('a payload that nobody would notice is refused', async (t) => {
  const tagIds = [tenant.tagId];
  const nothings = [
    {},
    '{}',
    { ttl: 60, priority: 'high', collapseId: 'x', silent: false },
    { title: '', message: '', data: {}, apns: {} },
    { title: null, data: null },
  ];
  for (const payload of nothings) {
    t.match(await faultsOf({ tagIds, payload }), /"payload","message":"shows nothing on any /);
  }
  const somethings = [
    { title: 'x' },
    { body: 'x' },
    { badge: 0 },
    { sound: 'default' },
    { image: 'https://example.com/1.png' },
    { url: 'https://example.com/' },
    { silent: true },
    { articleId: 7 },
    { data: { articleId: 7 } },
    { apns: { aps: { alert: 'x' } } },
    { fcm: { notification: { title: 'x' } } },
    { webpush: { title: 'x' } },
  ];
  for (const payload of somethings) {
    t.equal((await post({ tagIds, payload, dryRun: true })).status, 200, JSON.stringify(payload));
  }
});

t.test('what is not valid is refused with all its faults', async (t) => {
  t.match(await faultsOf('not json'), 'JSON object');
  t.match(await faultsOf('[]'), 'JSON object');
  t.match(await faultsOf({ payload: PAYLOAD }), 'tagSourceIds');
  t.match(await faultsOf({ tagIds: [tenant.tagId] }), '"path":"payload"');
  t.match(
    await faultsOf({ tagIds: [tenant.tagId] }),
    'is missing; it must be an object, or a string',
  );
  t.match(await faultsOf({ tagIds: ['x'], payload: PAYLOAD }), 'tagIds.0');
  t.match(await faultsOf({ tagIds: [{ id: 1 }], payload: PAYLOAD }), 'tagIds.0');
  t.match(await faultsOf({ tagIds: [1.5], payload: PAYLOAD }), 'tagIds.0');
  t.match(await faultsOf({ tagSourceIds: ['a\0'], payload: PAYLOAD }), 'tagSourceIds.0');
  t.match(
    await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, sendAt: 'tomorrow' }),
    'sendAt',
  );
  t.match(
    await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, sendAt: '2026-01-01T10:00' }),
    'zone',
  );
  t.match(await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, dryRun: 'maybe' }), 'dryRun');
  t.match(await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, appIds: [] }), 'appIds');
  t.match(
    await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, appIds: [foreign.appId] }),
    `${foreign.appId}`,
  );
  t.match(
    await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, excludeTagIds: [999_999] }),
    '999999',
  );
  t.match(
    await faultsOf({ tagIds: Array.from({ length: 1_001 }, (_, n) => n), payload: PAYLOAD }),
    '1000',
  );
  const late = { sendAt: '2100-01-01T00:00:01Z', expiresAt: '2100-01-01T00:00:00Z' };
  t.match(await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, ...late }), 'expiresAt');
  const two = await faultsOf({ tagIds: ['x'], payload: PAYLOAD, sendAt: 'x' });
  t.ok(two.includes('tagIds.0') && two.includes('sendAt'), 'every fault is named');
});

t.test('a field that nobody knows is refused: it might have narrowed the audience', async (t) => {
  const good = { tagIds: [tenant.tagId], payload: PAYLOAD };
  for (const [field, message] of [
    ['excludeTags', 'the nearest is excludeTagIds'],
    ['dry_run', 'the nearest is dryRun'],
    ['title', 'belongs in payload'],
    ['body', 'belongs in payload'],
    ['priority', 'must be normal or urgent'],
    ['__proto__', 'is not a field of a push'],
  ] as const) {
    const body = JSON.stringify(good).replace('{', `{"${field}":1,`);
    const faults = await faultsOf(body);
    t.match(faults, message);
    t.match(faults, `"path":"${field}"`);
  }
  const all = await faultsOf({
    ...good,
    dry_run: true,
    excludeTags: [1],
    sendAt: 'x',
    payload: { badge: -1 },
  });
  for (const path of ['dry_run', 'excludeTags', 'sendAt', 'payload.badge']) t.match(all, path);
});

t.test('a body that is no JSON is told where', async (t) => {
  t.match(await faultsOf('{"tagIds": [1],\n "payload": {"title": "x",}}'), 'line 2, column 27');
});

t.test('faults that only the database knows are told together', async (t) => {
  const payload = { title: 'x'.repeat(4_097) };
  const faults = await faultsOf({
    tagIds: [tenant.tagId],
    excludeTagIds: [999_999],
    appIds: [foreign.appId, tenant.appId],
    expiresAt: Date.now() - 60_000,
    payload,
  });
  for (const part of ['999999', `no app ${foreign.appId}`, 'platform 3', 'expiresAt'])
    t.match(faults, part);
});

t.test('an end in the past is refused, but a repeated request gets its job', async (t) => {
  const body = { tagIds: [tenant.tagId], payload: PAYLOAD, expiresAt: Date.now() + 2_000 };
  const first = await post(body, { 'idempotency-key': 'ends' });
  t.match(String(first.body), UUID_V7);
  await until('the end is over', () => (Date.now() > body.expiresAt ? true : null));
  t.match(await faultsOf(body), 'expiresAt');
  t.match(await faultsOf({ ...body, dryRun: true }), 'expiresAt');
  t.equal((await post(body, { 'idempotency-key': 'ends' })).body, first.body);
});

t.test('seconds for milliseconds are refused, not sent at once', async (t) => {
  const seconds = Math.floor(Date.now() / 1_000) + 3_600;
  for (const sendAt of [seconds, String(seconds), 0, 99_999_999_999]) {
    t.match(
      await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, sendAt }),
      'look like seconds',
    );
  }
  t.match(
    await faultsOf({ tagIds: [tenant.tagId], payload: PAYLOAD, expiresAt: seconds }),
    'look like seconds',
  );
});

t.test('a payload too large names platform, size and limit', async (t) => {
  const faults = await faultsOf({ tagIds: [tenant.tagId], payload: { title: 'x'.repeat(4_097) } });
  t.match(faults, /platform 3/);
  t.match(faults, /platform 15/);
  t.match(faults, /4096/);
});

t.test('times: ISO 8601 and epoch milliseconds, as numbers and as digits', async (t) => {
  const at = Date.UTC(2100, 0, 1);
  for (const sendAt of [at, String(at), '2100-01-01T00:00:00Z', '2100-01-01T02:00+02:00']) {
    const response = await post({ tagIds: [tenant.tagId], payload: PAYLOAD, sendAt });
    const [row] = await sql`
      select state, extract(epoch from send_at)::float8 * 1000 as at from notifications where id = ${String(response.body)}`;
    t.strictSame({ ...row }, { state: 'SCHEDULED', at });
  }
});

t.test('each publisher has idempotency keys of its own', async (t) => {
  const rights = { scopes: ['send'], tagIds: null, groupIds: null, appIds: null } as const;
  const keyed = (id: number): Caller => ({
    ...{ ...caller, role: 'key', userName: `demo-key-${id}` },
    key: { id, ...rights, maxDevices: null },
  });
  const member = (id: number, role: 'owner' | 'publisher'): Caller => ({
    ...(role === 'owner' ? caller : keyed(id)),
    userName: `${id}@example.com`,
    account: { id, email: `${id}@example.com`, role },
  });
  const publishers = [caller, keyed(1), keyed(2), member(1, 'owner'), member(2, 'publisher')];
  const headers = { 'idempotency-key': 'shared' };
  const pushAs = (by: Caller, body: object) =>
    Promise.resolve(route.handle(request(body, headers), by));
  const body = { tagIds: [tenant.tagId], payload: PAYLOAD };
  const first = await Promise.all(publishers.map((by) => pushAs(by, body)));
  t.same(
    first.map((answer) => answer.status),
    [200, 200, 200, 200, 200],
  );
  t.equal(new Set(first.map((answer) => answer.body)).size, 5, 'nobody gets the job of another');
  for (const [index, by] of publishers.entries()) {
    t.equal((await pushAs(by, body)).body, first[index]?.body, by.userName);
    t.equal((await pushAs(by, { ...body, appIds: [tenant.appId] })).status, 422);
  }
  const rotated = { ...caller, userName: 'publisher-rotated' };
  t.equal((await pushAs(rotated, body)).body, first[0]?.body, 'after a rotation');

  // A node of the version before has written one as it was sent.
  const early = { 'idempotency-key': 'early' };
  const before = await route.handle(request(body, early), { ...caller, userName: 'demo-key-1' });
  const again = await route.handle(request(body, early), keyed(1));
  t.equal(again.body, before.body, 'a repetition on this node sends nothing again');
  const other = await route.handle(request(body, early), keyed(2));
  t.equal(other.status, 200);
  t.not(other.body, before.body);
});

t.test('Idempotency-Key: the same job for the same body, 422 for another', async (t) => {
  const body = { tagIds: [tenant.tagId], payload: PAYLOAD };
  const first = await post(body, { 'idempotency-key': 'k1' });
  const again = await post(body, { 'idempotency-key': 'k1' });
  t.equal(again.body, first.body);
  const other = await post({ ...body, appIds: [tenant.appId] }, { 'idempotency-key': 'k1' });
  t.equal(other.status, 422);
  t.equal((await post(body, { 'idempotency-key': 'k'.repeat(256) })).status, 400);
  t.equal((await post(body, { 'idempotency-key': '' })).status, 400, 'an empty one is no key');
});

t.test('status: a row for each (app, platform), with reasons when something failed', async (t) => {
  const id = String((await post({ tagIds: [tenant.tagId], payload: PAYLOAD })).body);
  await planDue(sql);
  const response = await get(id.toUpperCase());
  t.equal(response.status, 200);
  const row = {
    state: 'RUNNING',
    totalCount: 0,
    successCount: 0,
    failedCount: 0,
    skippedCount: 0,
    expiredCount: 0,
    cancelledCount: 0,
  };
  t.strictSame(jsonOf(response), [
    { key: { id, platformId: 3 }, appId: tenant.appId, ...row },
    { key: { id, platformId: 15 }, appId: tenant.appId, ...row },
  ]);

  await sql`
    update notification_scopes set total = 9, failed = 9, fault = 'Forbidden', simulated = true
    where notification_id = ${id} and platform_id = 3`;
  await sql`insert into failure_reasons values (${id}, ${tenant.appId}, 3, 'Forbidden', 9)`;
  await sql`update notifications set state = 'FINISHED', finished_at = now() where id = ${id}`;
  t.match(jsonOf(await get(id)), [
    {
      state: 'FAILED',
      totalCount: 9,
      failedCount: 9,
      failureReasons: { Forbidden: 9 },
      fault: /^Forbidden: .*This answer came from the simulator.*DEMO=0/,
      simulated: true,
    },
    { state: 'FINISHED', totalCount: 0 },
  ]);
});

t.test('status of an unknown, foreign or impossible job: 404', async (t) => {
  const id = String((await post({ tagIds: [tenant.tagId], payload: PAYLOAD })).body);
  t.equal((await get(id, { ...caller, clientId: foreign.clientId })).status, 404);
  t.equal((await get('019a0000-0000-7000-8000-000000000000')).status, 404);
  t.equal((await get('no-uuid')).status, 404);
});

t.test('a client without an app has one row, of nothing', async (t) => {
  const [client] = await sql<{ id: number }[]>`
    insert into clients (slug, name) values ('empty', 'Empty') returning id`;
  const owner = { ...caller, clientId: client?.id ?? 0, clientSlug: 'empty' };
  const response = await route.handle(request({ tagIds: [1], payload: PAYLOAD }), owner);
  t.match(jsonOf(await get(String(response.body), owner)), [
    { key: { id: String(response.body), platformId: null }, appId: null, totalCount: 0 },
  ]);
});

t.test('without a database the fault is told as such: the server makes it 503', async (t) => {
  const nowhere = connect({ kind: 'postgres', url: 'postgres://postgres@127.0.0.1:1/none' }, 1);
  t.teardown(() => nowhere.end({ timeout: 0 }));
  const patientReads = new PatientReads((work) => work(nowhere));
  const cut = new Accept({
    replaceableDefault: true,
    atOnce: NEVER_AT_ONCE,
    journal: SILENT_JOURNAL,
    sql: nowhere,
    patientReads,
    tagIndex: new SqlTagIndex(nowhere),
    evaluator,
    isSimulated: () => false,
    onAccepted: () => undefined,
  });
  const faultWith = async (handle: () => unknown): Promise<StoreFault | null> => {
    try {
      await handle();
      return null;
    } catch (error) {
      return faultOf(error);
    }
  };
  const body = { tagIds: [tenant.tagId], payload: PAYLOAD };
  t.equal(
    await faultWith(() => pushRoute(cut, store.sql).handle(request(body), caller)),
    'unavailable',
  );
  const asked = request('', {}, { id: '019a0000-0000-7000-8000-000000000000' });
  const status = statusRoute(patientReads) as ApiRoute;
  t.equal(await faultWith(() => status.handle(asked, caller)), 'unavailable');
});

t.test('a client with as many open jobs as it may: 403, and no job', async (t) => {
  const [before] = await sql<{ count: number }[]>`select count(*) from notifications`;
  const limited = { ...caller, limits: { openJobs: 0 } };
  const body = { tagIds: [tenant.tagId], payload: PAYLOAD, sendAt: Date.now() + 3_600_000 };
  const answer = await route.handle(request(body), limited);
  t.match(answer, { status: 403, beyondLimit: 'openJobs' });
  t.match(JSON.parse(String(answer.body)), { detail: /its limit openJobs\. Cancel some/ });
  t.same(await sql`select count(*) from notifications`, [before]);
});
