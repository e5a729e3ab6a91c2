import t from 'tap';
import { Accept } from '../../../src/push/accept/accept.ts';
import type { Acceptance } from '../../../src/push/accept/acceptance.ts';
import { SCOPES_WRITTEN_MAX } from '../../../src/push/accept/in-pieces.ts';
import type { Push, TagReferences } from '../../../src/push/accept/push.ts';
import { taskOf } from '../../../src/push/dispatch/claimed.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { SqlTagIndex } from '../../../src/tag-index/sql/sql-tag-index.ts';
import { aPush } from '../../support/a-notification.ts';
import { evaluator } from '../../support/evaluator.ts';
import { plain } from '../../support/expressions.ts';
import { NEVER_AT_ONCE } from '../../support/never-at-once.ts';
import { claimChunksOf, makeTag, makeTenant } from '../../support/notifications.ts';
import { seedDevices } from '../../support/seed.ts';
import { SILENT_JOURNAL } from '../../support/silent-journal.ts';
import { withStores } from '../../support/store.ts';

const ids = (...tagIds: readonly number[]): TagReferences => ({ ids: tagIds, sourceIds: [] });

const push = aPush;

const NOT_AUTHORIZED = { authorized: null, fault: null };

const key = (name: string, body = 'body') => ({ key: name, bodyHash: Buffer.from(body) });

function idOf(acceptance: Acceptance): string {
  if (acceptance.kind !== 'accepted') throw new Error(acceptance.kind);
  return acceptance.id;
}

await withStores(t, async (t, store) => {
  const { sql } = store;
  const accept = new Accept({
    replaceableDefault: true,
    atOnce: NEVER_AT_ONCE,
    journal: SILENT_JOURNAL,
    sql,
    patientReads: store.patientReads,
    tagIndex: new SqlTagIndex(sql),
    evaluator,
    isSimulated: (platformId) => platformId === 3,
    onAccepted: () => undefined,
  });
  const tenant = await makeTenant(sql, 'publisher');
  const foreign = await makeTenant(sql, 'foreign');
  const publisher = { clientId: tenant.clientId, userName: 'p', requestId: 'r', idempotency: null };
  const [second] = await sql<{ id: number }[]>`
    insert into apps (client_id, name) values (${tenant.clientId}, 'Second') returning id`;
  const secondAppId = second?.id ?? 0;
  await sql`insert into app_platforms (app_id, platform_id) values (${secondAppId}, 15)`;
  const scopesOf = async (acceptance: Acceptance) =>
    ((await readStatus(sql, tenant.clientId, idOf(acceptance))) ?? []).map(
      ({ appId, platformId }) => `${appId === secondAppId ? 'second' : 'first'}/${platformId}`,
    );

  await t.test(
    'scopes: every (app, platform) connected to the tags, of the apps asked for',
    async (t) => {
      const all = await accept.submit(push({ target: ids(tenant.tagId) }), publisher);
      t.strictSame(await scopesOf(all), ['first/3', 'first/15', 'second/15']);
      const tagOfSecond = await makeTag(sql, tenant.clientId, { appIds: [secondAppId] });
      const one = await accept.submit(push({ target: ids(tagOfSecond) }), publisher);
      t.strictSame(await scopesOf(one), ['second/15']);
      const both = push({ target: ids(tagOfSecond, tenant.tagId), appIds: [tenant.appId] });
      t.strictSame(await scopesOf(await accept.submit(both, publisher)), ['first/3', 'first/15']);
      const apart = push({ target: ids(tagOfSecond), appIds: [tenant.appId] });
      t.strictSame(await scopesOf(await accept.submit(apart, publisher)), ['first/3', 'first/15']);
    },
  );

  await t.test(
    'a foreign, deleted or expired target addresses nobody and is told as unknown',
    async (t) => {
      const expired = await makeTag(sql, tenant.clientId, { expiresAtMs: 1_000 });
      const target = { ids: [foreign.tagId, expired, 2_000_000_000], sourceIds: ['nowhere'] };
      const acceptance = await accept.submit(push({ target }), publisher);
      t.match(acceptance, {
        kind: 'accepted',
        unknownTags: [foreign.tagId, expired, 2_000_000_000, 'nowhere'],
      });
      t.equal((await scopesOf(acceptance)).length, 3, 'a row for every app all the same');
      await planDue(sql);
      t.match(await readStatus(sql, tenant.clientId, idOf(acceptance)), [
        { state: 'FINISHED', total: 0 },
      ]);
    },
  );

  await t.test('ids beyond the range of ids are unknown, not an error', async (t) => {
    const acceptance = await accept.submit(
      push({ target: ids(9_007_199_254_740_991, -1, 0) }),
      publisher,
    );
    t.match(acceptance, { kind: 'accepted' });
  });

  await t.test('an unknown filter leaves nobody; an unknown exclusion is refused', async (t) => {
    await seedDevices(sql, {
      appId: tenant.appId,
      platformId: 3,
      tagIds: [tenant.tagId],
      count: 5,
    });
    const filtered = push({ target: ids(tenant.tagId), filter: ids(foreign.tagId) });
    const counted = await accept.dryRun(filtered, tenant.clientId);
    t.match(counted, { kind: 'counted', unknownTags: [foreign.tagId] });
    t.ok(counted.kind === 'counted' && counted.audience.every(({ count }) => count === 0));
    const excluding = push({
      target: ids(tenant.tagId),
      exclude: { ids: [], sourceIds: ['nowhere'] },
    });
    t.match(await accept.submit(excluding, publisher), {
      kind: 'invalid',
      faults: [{ path: 'excludeTagSourceIds' }],
    });
    t.match(await accept.dryRun(push({ target: ids(tenant.tagId) }), tenant.clientId), {
      audience: [{ platformId: 3, count: 5 }, { platformId: 15, count: 0 }, { count: 0 }],
    });
  });

  await t.test('a tag may be named by source id', async (t) => {
    const acceptance = await accept.submit(
      push({ target: { ids: [], sourceIds: ['news'] } }),
      publisher,
    );
    t.match(acceptance, { kind: 'accepted', unknownTags: [] });
    const [row] = await sql`select any_tag_ids from notifications where id = ${idOf(acceptance)}`;
    t.strictSame(row?.['any_tag_ids'], [tenant.tagId]);
  });

  await t.test('an unknown or foreign app is named', async (t) => {
    const asked = push({ target: ids(tenant.tagId), appIds: [foreign.appId] });
    const acceptance = await accept.submit(asked, publisher);
    t.match(acceptance, { kind: 'invalid' });
    t.ok(
      acceptance.kind === 'invalid' &&
        acceptance.faults[0]?.message.includes(String(foreign.appId)),
    );
  });

  await t.test('a payload too large is refused for each platform', async (t) => {
    const payload = { title: 'x'.repeat(5_000), data: {} };
    const acceptance = await accept.submit(push({ target: ids(tenant.tagId), payload }), publisher);
    if (acceptance.kind !== 'invalid') throw new Error(acceptance.kind);
    t.equal(acceptance.faults.length, 2);
    t.match(acceptance.faults[0]?.message, /platform 3.*4096/);
  });

  await t.test('the same key and body: the same notification, once, even at once', async (t) => {
    const asked = push({ target: ids(tenant.tagId) });
    const keyed = { ...publisher, idempotency: key('once') };
    const together = await Promise.all(
      Array.from({ length: 8 }, () => accept.submit(asked, keyed)),
    );
    t.equal(new Set(together.map(idOf)).size, 1);
    t.equal(idOf(await accept.submit(asked, keyed)), together.map(idOf)[0]);
    const [made] = await sql`select count(*) as count from idempotency_keys where key = 'once'`;
    t.equal(made?.['count'], 1);
  });

  await t.test(
    'the same key with another body is refused; another client has his own keys',
    async (t) => {
      const asked = push({ target: ids(tenant.tagId) });
      await accept.submit(asked, { ...publisher, idempotency: key('body') });
      const other = await accept.submit(asked, { ...publisher, idempotency: key('body', 'other') });
      t.strictSame(other, { kind: 'key-reused' });
      const elsewhere = {
        ...publisher,
        clientId: foreign.clientId,
        idempotency: key('body', 'other'),
      };
      t.match(await accept.submit(push({ target: ids(foreign.tagId) }), elsewhere), {
        kind: 'accepted',
      });
    },
  );

  await t.test(
    'a key is free again after 24 hours; repeated before, it outlives its tags',
    async (t) => {
      const tagId = await makeTag(sql, tenant.clientId, { sourceId: 'short-lived' });
      const asked = push({ target: ids(tenant.tagId), exclude: ids(tagId) });
      const keyed = { ...publisher, idempotency: key('old') };
      const first = idOf(await accept.submit(asked, keyed));
      await sql`update tags set deleted_at = now() where id = ${tagId}`;
      t.equal(idOf(await accept.submit(asked, keyed)), first);
      await sql`update tags set deleted_at = null where id = ${tagId}`;
      await sql`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'`;
      t.not(idOf(await accept.submit(asked, keyed)), first);
    },
  );

  await t.test('later is SCHEDULED, and not planned before', async (t) => {
    const asked = push({ target: ids(tenant.tagId), sendAtMs: Date.now() + 3_600_000 });
    const acceptance = await accept.submit(asked, publisher);
    t.match(acceptance, { state: 'SCHEDULED' });
    const id = idOf(acceptance);
    t.notOk((await planDue(sql)).some((planned) => planned.id === id));
    await sql`update notifications set send_at = now() where id = ${id}`;
    t.ok((await planDue(sql)).some((planned) => planned.id === id));
    t.match(await readStatus(sql, tenant.clientId, id), [
      { state: 'RUNNING', isSimulated: true },
      {},
      {},
    ]);
  });

  await t.test(
    'a ttl and the retries count from when it was due, never from before its acceptance',
    async (t) => {
      const later = await makeTenant(sql, 'later');
      await seedDevices(sql, {
        appId: later.appId,
        platformId: 3,
        tagIds: [later.tagId],
        count: 1,
      });
      const by = { ...publisher, clientId: later.clientId };
      const asked = push({ target: ids(later.tagId), sendAtMs: Date.now() + 3_600_000 });
      const scheduled = idOf(await accept.submit(asked, by));
      await sql`update notifications set accepted_at = accepted_at - interval '1 hour',
      send_at = send_at - interval '1 hour' where id = ${scheduled}`;
      const past = idOf(
        await accept.submit(push({ target: ids(later.tagId), sendAtMs: 1_000 }), by),
      );
      await planDue(sql);
      for (const id of [scheduled, past]) {
        const [chunk] = await claimChunksOf(sql, id, 60_000);
        if (chunk === undefined) throw new Error('nothing to claim');
        const task = taskOf(
          { kind: 'chunk', chunk, leaseStartedMs: 0, nodeId: null },
          {
            audience: plain(chunk.terms.audience),
            payload: chunk.terms.payload,
            leftOut: null,
            named: null,
          },
          60_000,
          NOT_AUTHORIZED,
        );
        t.ok(Math.abs(task.message.dueAtMs - Date.now()) < 60_000, 'due about now');
        t.equal(task.retryUntilMs, task.message.dueAtMs + 3_600_000);
      }
    },
  );

  await t.test(
    'a tag that has expired or was deleted when a push is due addresses nobody',
    async (t) => {
      const late = await makeTenant(sql, 'late');
      const { appId, clientId, tagId } = late;
      const by = { ...publisher, clientId };
      const expired = await makeTag(sql, clientId, {});
      const deleted = await makeTag(sql, clientId, {});
      await seedDevices(sql, { appId, platformId: 3, tagIds: [tagId, expired, deleted], count: 1 });
      const later = async (more: Partial<Push>): Promise<string> =>
        idOf(await accept.submit(push({ ...more, sendAtMs: Date.now() + 3_600_000 }), by));
      const some = await later({ target: ids(tagId, expired, deleted) });
      const nobody = await later({ target: ids(expired, deleted) });
      const filtered = await later({ target: ids(tagId), filter: ids(deleted) });
      await sql`update tags set expires_at_ms = 1 where id = ${expired}`;
      await sql`update tags set deleted_at = now() where id = ${deleted}`;
      await sql`update notifications set send_at = now() where client_id = ${clientId}`;
      await planDue(sql);
      const [chunk] = await claimChunksOf(sql, some, 60_000);
      t.strictSame(chunk?.terms.audience.anyTagIds, [tagId]);
      t.match(await readStatus(sql, clientId, nobody), [{ state: 'FINISHED', total: 0 }, {}]);
      t.match(await readStatus(sql, clientId, filtered), [{ state: 'FINISHED', total: 0 }, {}]);
    },
  );

  await t.test('planning covers the devices of that moment, group by group', async (t) => {
    const planned = await makeTenant(sql, 'planned');
    const asked = push({ target: ids(planned.tagId) });
    const id = idOf(await accept.submit(asked, { ...publisher, clientId: planned.clientId }));
    await seedDevices(sql, {
      appId: planned.appId,
      platformId: 3,
      tagIds: [planned.tagId],
      count: 8_193,
    });
    await Promise.all([planDue(sql), planDue(sql)]);
    await seedDevices(sql, {
      appId: planned.appId,
      platformId: 3,
      tagIds: [planned.tagId],
      count: 8_192,
    });
    const chunks = await sql`
      select c.group_number, s.ordinal_end from chunks c
      join notification_scopes s using (notification_id, app_id, platform_id)
      where notification_id = ${id} order by group_number`;
    t.strictSame(
      chunks.map((chunk) => ({ ...chunk })),
      [
        { group_number: 0, ordinal_end: 8_193 },
        { group_number: 1, ordinal_end: 8_193 },
      ],
    );
    const [open] = await sql`select open_chunks, state from notifications where id = ${id}`;
    t.strictSame({ ...open }, { open_chunks: 2, state: 'RUNNING' });
  });

  await t.test('pushes that come together are one transaction', async (t) => {
    const target = ids(tenant.tagId);
    const taken = key('taken');
    const first = await accept.submit(push({ target }), { ...publisher, idempotency: taken });
    const submit = (more: Partial<Push>, idempotency: typeof taken | null = null) =>
      accept.submit(push({ target, ...more }), { ...publisher, idempotency });
    const foreigner = {
      clientId: foreign.clientId,
      userName: 'f',
      requestId: 'r',
      idempotency: taken,
    };
    const [plain, repeated, reused, twin, again, invalid, unwritable, theirs] =
      await Promise.allSettled([
        submit({}),
        submit({}, taken),
        submit({}, key('taken', 'other body')),
        submit({}, key('twin')),
        submit({}, key('twin')),
        submit({ appIds: [foreign.appId] }),
        submit({ target: { ids: [], sourceIds: ['no text of a database: \0'] } }),
        accept.submit(push({ target: ids(foreign.tagId, tenant.tagId) }), foreigner),
      ]);
    t.match(plain, { value: { kind: 'accepted', state: 'QUEUED' } });
    t.match(repeated, { value: { kind: 'accepted', id: idOf(first) } });
    t.match(reused, { value: { kind: 'key-reused' } });
    t.match(twin, { value: { kind: 'accepted' } });
    t.strictSame(again, twin, 'written once');
    t.match(invalid, { value: { kind: 'invalid', faults: [{ path: 'appIds' }] } });
    t.match(unwritable, { status: 'rejected' }, 'and nobody with it');
    t.match(theirs, { value: { kind: 'accepted', unknownTags: [tenant.tagId] } });
    t.not(theirs.status === 'fulfilled' && idOf(theirs.value), idOf(first), 'a key of their own');

    const together = await Promise.all(Array.from({ length: 40 }, () => submit({})));
    const [row] = await sql<{ times: number }[]>`
      select count(distinct accepted_at)::integer as times from notifications
      where id = any(${together.map(idOf)}::uuid[])`;
    t.ok((row?.times ?? 40) < 10, `${row?.times} transactions`);
  });

  await t.test('pushes for many apps are written in short transactions', async (t) => {
    const large = await makeTenant(sql, 'large');
    await sql`
      with app as (
        insert into apps (client_id, name) select ${large.clientId}, 'App' from generate_series(1, 150)
        returning id
      )
      insert into app_platforms (app_id, platform_id)
      select id, platform_id from app cross join unnest('{3,7,15}'::smallint[]) as p (platform_id)`;
    const by = { ...publisher, clientId: large.clientId };
    const submit = (title: string) =>
      accept.submit(push({ target: ids(large.tagId), payload: { title, data: {} } }), by);
    const titles = ['1', '2', '3', '4', '5', '6'];
    const accepted = (await Promise.all(titles.map(submit))).map(idOf);
    // Each row keeps the transaction that wrote it.
    const written = await sql<{ scopes: number }[]>`
      select count(*)::integer as scopes from notification_scopes
      where notification_id = any(${accepted}::uuid[]) group by xmin::text`;
    t.equal(
      written.reduce((sum, { scopes }) => sum + scopes, 0),
      titles.length * 452,
    );
    t.ok(written.every(({ scopes }) => scopes <= SCOPES_WRITTEN_MAX));

    await sql`
      create function refuse() returns trigger language plpgsql as $$
        begin raise exception 'refused'; end
      $$`;
    await sql`
      create trigger refuse before insert on notifications for each row
      when (new.payload ->> 'title' = '4') execute function refuse()`;
    const settled = await Promise.allSettled(titles.map(submit));
    await sql`drop function refuse cascade`;
    t.strictSame(
      settled.map(({ status }) => status === 'fulfilled'),
      titles.map((title) => title !== '4'),
      'one of a later piece that is refused is refused alone',
    );
    const [count] = await sql`
      select count(*)::integer as jobs from notifications where client_id = ${large.clientId}`;
    t.equal(count?.['jobs'], 11, 'and none of the others is written twice');
  });

  // A transaction has the embedded database for itself, and everybody waits.
  if (store.address.kind === 'embedded') return;
  await t.test('pushes of a client whose devices are being moved keep nobody else', async (t) => {
    let isWritten = false;
    const { waiting } = await sql.begin(async (tx) => {
      await tx`select from clients where id = ${tenant.clientId} for update`;
      const submitted = accept.submit(push({ target: ids(tenant.tagId) }), publisher);
      void submitted.then(() => {
        isWritten = true;
      });
      const other = {
        clientId: foreign.clientId,
        userName: 'f',
        requestId: 'r',
        idempotency: null,
      };
      await accept.submit(push({ target: ids(foreign.tagId) }), other);
      t.notOk(isWritten, 'its own waits');
      return { waiting: submitted };
    });
    t.match(await waiting, { kind: 'accepted' });
  });
});
