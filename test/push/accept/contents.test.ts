/**
 * Pushes to apps with templates, over HTTP and on both stores: what each (app, platform) gets is
 * made once, when the push is accepted.
 */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { taskOf } from '../../../src/push/dispatch/claimed.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { deleteTemplate, writeTemplate } from '../../../src/templates/templates.ts';
import { plain } from '../../support/expressions.ts';
import type { Answered, JobsApi } from '../../support/jobs-api.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { claimChunksOf } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

const IOS = '{"title": home & "–" & away, "badge": $sum(goals)}';
const ANDROID = '{"fcm": {"data": {"match": home & "/" & away}}}';
/** No payload in the common form: `priority` is none of its values. */
const MATCH = { home: 'FCB', away: 'BVB', goals: [1, 2], priority: 10 };
const HOSTILE = '($f := function($x) { $f($x) }; $f(1))';

async function open(t: Test, store: Store): Promise<JobsApi> {
  const api = await startJobsApi(t, store, 'acme');
  const { appId, tagId } = api.tenant;
  for (const platformId of [3, 15]) {
    await seedDevices(store.sql, { appId, platformId, tagIds: [tagId], count: 2 });
  }
  return api;
}

const withTemplates = async (
  { sql }: Store,
  { tenant: { appId } }: JobsApi,
  expressions: Readonly<Record<number, string>>,
) => {
  for (const [platformId, expression] of Object.entries(expressions)) {
    await writeTemplate(sql, { appId, platformId: Number(platformId) }, expression);
  }
};

/** The terms of a notification for workers, by platform. */
async function claimed({ sql }: Store, id: string) {
  await planDue(sql);
  const chunks = await claimChunksOf(sql, id, 60_000);
  return Object.fromEntries(
    chunks.map((chunk) => {
      const claim = { kind: 'chunk', chunk, leaseStartedMs: 0, nodeId: null } as const;
      const { audience, payload } = chunk.terms;
      const compiled = { audience: plain(audience), payload, leftOut: null, named: null };
      const task = taskOf(claim, compiled, 60_000, { authorized: null, fault: null });
      return [task.platformId, task.message.payload];
    }),
  );
}

const messagesOf = ({ status, body }: Answered, t: Test): readonly string[] => {
  t.equal(status, 400);
  return body.errors.map(({ path, message }: Record<string, string>) => `${path} ${message}`);
};

await onEachStore(t, {
  async 'each platform is sent what its template made'(t, store) {
    const api = await open(t, store);
    await withTemplates(store, api, { 3: IOS, 15: ANDROID });
    const id = await api.push({ payload: MATCH });
    t.strictSame(await claimed(store, id), {
      3: { title: 'FCB–BVB', badge: 3, data: {} },
      15: { fcm: { data: { match: 'FCB/BVB' } }, data: {} },
    });
    const { body } = await api.call('GET', `/${id}`);
    t.same(body.givenPayload, MATCH);
    t.same(
      body.platforms.map(({ payload }: { payload: unknown }) => payload),
      [{ title: 'FCB–BVB', badge: 3 }, { fcm: { data: { match: 'FCB/BVB' } } }],
    );
    const asText = await api.push({ payload: JSON.stringify(MATCH) });
    t.match(await claimed(store, asText), { 3: { title: 'FCB–BVB' } });
  },

  async 'one without a template gets the payload of the push'(t, store) {
    const api = await open(t, store);
    await withTemplates(store, api, { 3: '{"title": "for iOS: " & title}' });
    const id = await api.push({ payload: { title: 'goal!', score: 1 } });
    t.strictSame(await claimed(store, id), {
      3: { title: 'for iOS: goal!', data: {} },
      15: { title: 'goal!', data: { score: 1 } },
    });
    const { body } = await api.call('GET', `/${id}`);
    t.same(body.payload, { title: 'goal!', data: { score: 1 } });
    t.notOk('payload' in body.platforms[1]);

    const plain = await api.call('POST', '', { tagIds: [api.tenant.tagId], payload: MATCH });
    t.strictSame(messagesOf(plain, t), ['payload.priority must be "high" or "normal".']);
  },

  async 'a push without templates has none of it'(t, store) {
    const api = await open(t, store);
    const id = await api.push();
    const { body } = await api.call('GET', `/${id}`);
    t.notOk('givenPayload' in body);
    const [row] = await store.sql`select templated from notifications where id = ${id}`;
    t.equal(row?.['templated'], null);
  },

  async 'a template that is changed or deleted afterwards changes no job'(t, store) {
    const api = await open(t, store);
    await withTemplates(store, api, { 3: IOS, 15: ANDROID });
    const id = await api.push({ payload: MATCH });
    await withTemplates(store, api, { 3: '{"title": "other"}' });
    await deleteTemplate(store.sql, { appId: api.tenant.appId, platformId: 15 });
    t.match(await claimed(store, id), { 3: { title: 'FCB–BVB' }, 15: { fcm: {} } });
  },

  async 'one that fails refuses the push, by app and platform'(t, store) {
    const api = await open(t, store);
    const { appId, tagId } = api.tenant;
    await withTemplates(store, api, { 3: '{"title": $uppercase(goals)}', 15: '{"ttl": -1}' });
    const body = { tagIds: [tagId], payload: MATCH };
    const wanted = [
      new RegExp(`^payload The template of app ${appId} on platform 3 .APNs. fails`),
      new RegExp(`^payload The template of app ${appId} on platform 15 .FCM. makes .*payload.ttl`),
    ];
    t.match(messagesOf(await api.call('POST', '', body), t), wanted);
    t.match(messagesOf(await api.call('POST', '', { ...body, dryRun: true }), t), wanted);
    t.match(messagesOf(await api.call('POST', '/preview', body), t), wanted);
    t.match(messagesOf(await api.call('POST', '/push-api/push', body), t), wanted);
    const test = { appId, platformId: 3, deviceId: 'ab', payload: MATCH };
    t.match(messagesOf(await api.call('POST', '/test', test), t), wanted.slice(0, 1));
    // All faults are reported together.
    const more = await api.call('POST', '', { ...body, excludeTagIds: [999_999] });
    t.match(messagesOf(more, t), [/excludeTagIds/, ...wanted]);
    t.same((await api.call('GET', '')).body, []);
    t.equal((await api.call('POST', '/estimate', { tagIds: [tagId] })).status, 200);
  },

  async 'one that does not end refuses its push, and others are accepted'(t, store) {
    const api = await open(t, store);
    const other = await startJobsApi(t, store, 'other');
    await withTemplates(store, api, { 3: HOSTILE, 15: ANDROID });
    const [refused, id] = await Promise.all([
      api.call('POST', '', { tagIds: [api.tenant.tagId], payload: MATCH }),
      other.push(),
    ]);
    t.ok(id);
    t.match(messagesOf(refused, t), [
      /on platform 3 .* does not end within the 1000 ms of a processor/,
    ]);
  },

  async 'the size that counts is that of what it makes'(t, store) {
    const api = await open(t, store);
    const { tagId } = api.tenant;
    await withTemplates(store, api, { 3: '{"title": $substring(title, 0, 9)}', 15: ANDROID });
    const long = { title: 'x'.repeat(5_000), ...MATCH };
    t.match(await claimed(store, await api.push({ payload: long })), { 3: { title: 'xxxxxxxxx' } });
    await withTemplates(store, api, { 3: '{"title": $pad(title, 5000)}' });
    const short = { tagIds: [tagId], payload: { title: 'x' } };
    t.match(messagesOf(await api.call('POST', '', short), t), [
      /bytes once rendered for platform 3/,
    ]);
  },

  async 'a preview and a dry run are of what it makes'(t, store) {
    const api = await open(t, store);
    const { tagId, appId } = api.tenant;
    await withTemplates(store, api, { 3: '{"title": "for iOS: " & title}' });
    const body = { tagIds: [tagId], payload: { title: 'goal!' } };
    const { status, body: shown } = await api.call('POST', '/preview', body);
    t.equal(status, 200);
    t.match(shown.preview, [
      { platformId: 3, templated: true, message: { aps: { alert: { title: 'for iOS: goal!' } } } },
      { platformId: 15, message: { notification: { title: 'goal!' } } },
    ]);
    t.notOk('templated' in shown.preview[1]);
    const counted = await api.call('POST', '', { ...body, dryRun: true });
    t.same(counted.body.audience, [
      { appId, platformId: 3, count: 2 },
      { appId, platformId: 15, count: 2 },
    ]);
  },

  async 'a repeated request is answered with its job, whatever the template does now'(t, store) {
    const api = await open(t, store);
    const { tagId, superUser } = api.tenant;
    await withTemplates(store, api, { 3: IOS, 15: ANDROID });
    const submit = async () => {
      const answer = await fetch(`${api.baseUrl}/push-api/push`, {
        method: 'POST',
        headers: { authorization: `Bearer ${superUser.token}`, 'idempotency-key': 'match-1' },
        body: JSON.stringify({ tagIds: [tagId], payload: MATCH }),
      });
      return { status: answer.status, id: await answer.text() };
    };
    const [first, second] = await Promise.all([submit(), submit()]);
    t.equal(first.status, 200);
    t.strictSame(second, first);
    await withTemplates(store, api, { 3: '$error("no more")' });
    t.strictSame(await submit(), first);
  },
});
