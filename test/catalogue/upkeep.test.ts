/**
 * Tags are deleted a day after they have expired: by the database's clock, once, with an entry in
 * the audit log, and never while something still needs to know who has them.
 */

import t from 'tap';
import { listAuditEntries } from '../../src/audit/sql/list-entries.ts';
import { expiredTags } from '../../src/catalogue/upkeep.ts';
import { updateTags } from '../../src/catalogue/write-tags.ts';
import { lockClient } from '../../src/clients/lock-client.ts';
import type { SqlPool } from '../../src/database/sql.ts';
import { transact } from '../../src/database/transact.ts';
import { cancelBulkOperation } from '../../src/devices/sql/read-operations.ts';
import { silent } from '../support/app-api.ts';
import { openBulkScene } from '../support/bulk-operations.ts';
import { mortal } from '../support/mortal.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { withPostgresStore } from '../support/store.ts';
import { makeTenant } from '../support/tenant.ts';
import { untilLockWaits } from '../support/until-lock-waits.ts';
import { upkeepOf } from '../support/upkeep.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Later than all that a test makes. */
const tomorrow = () => Date.now() + DAY_MS + HOUR_MS;

const expiredTagsOf = (sql: SqlPool) => upkeepOf(sql, expiredTags(silent));

const living = async (sql: SqlPool): Promise<readonly number[]> => {
  const rows = await sql<{ id: number }[]>`
    select id from tags where deleted_at is null order by id`;
  return rows.map(({ id }) => id);
};

const auditOf = (sql: SqlPool, clientId: number) =>
  listAuditEntries(
    sql,
    clientId,
    { action: null, fromMs: null, toMs: null },
    { before: null, limit: 100 },
  );

const versionOf = async (sql: SqlPool, clientId: number): Promise<number> => {
  const [row] = await sql<{ version: number }[]>`
    select catalogue_version::integer as version from clients where id = ${clientId}`;
  return row?.version ?? 0;
};

await onEachStore(t, {
  'a tag is deleted a day after it has expired, and not an hour earlier': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const groupId = await tenant.makeGroup('Season');
    const nowMs = Date.now();
    const lasting = await tenant.makeTag();
    const expired = await tenant.makeTag({ expiresAtMs: nowMs, sourceId: 'match', groupId });
    const later = await tenant.makeTag({ expiresAtMs: nowMs + 2 * HOUR_MS });
    const version = await versionOf(sql, tenant.clientId);
    await expiredTagsOf(sql).run(nowMs + DAY_MS - HOUR_MS);
    t.same(await living(sql), [lasting, expired, later], 'its day is not over');
    t.equal(await versionOf(sql, tenant.clientId), version, 'no cache is emptied for nothing');
    await expiredTagsOf(sql).run(nowMs + DAY_MS + HOUR_MS);
    t.same(await living(sql), [lasting, later]);
    t.equal(await versionOf(sql, tenant.clientId), version + 1, 'all nodes read the tags again');
    t.same([...(await sql`select from tags where group_id = ${groupId}`)], [], 'it left its group');
    await tenant.makeTag({ sourceId: 'match' });
    t.pass('its sourceId is free');
  },

  'a tag that was made with a time in the past stays for a day': async (t, { sql }) => {
    const tenant = await makeTenant(sql, 'acme');
    const tag = await tenant.makeTag({ expiresAtMs: 1 });
    await expiredTagsOf(sql).run(Date.now() + DAY_MS - HOUR_MS);
    t.same(await living(sql), [tag]);
    await expiredTagsOf(sql).run(tomorrow());
    t.same(await living(sql), []);
  },

  'the audit log of each client has one entry for its own': async (t, { sql }) => {
    const [acme, other] = [await makeTenant(sql, 'acme'), await makeTenant(sql, 'other')];
    const ids = [await acme.makeTag({ expiresAtMs: 1 }), await acme.makeTag({ expiresAtMs: 2 })];
    await other.makeTag();
    const upkeep = expiredTagsOf(sql);
    await upkeep.run(tomorrow());
    await upkeep.run(tomorrow());
    t.match(await auditOf(sql, acme.clientId), {
      length: 1,
      0: {
        action: 'tags.expire',
        actorKind: 'engine',
        actorName: null,
        objectId: null,
        address: null,
        detail: { tags: 2, tagIds: ids.map(String) },
      },
    });
    t.same(await auditOf(sql, other.clientId), []);
  },

  'a tag waits for the operation on its members': async (t, store) => {
    const { sql } = store;
    const scene = await openBulkScene(store);
    const [from, to] = [await scene.makeTag({ expiresAtMs: 1 }), await scene.makeTag()];
    const operation = await scene.move(from, to);
    await expiredTagsOf(sql).run(tomorrow());
    t.same(await living(sql), [from, to]);
    const owner = { clientId: scene.clientId, userName: null };
    await transact(sql, (tx) => cancelBulkOperation(tx, owner, operation));
    await expiredTagsOf(sql).run(tomorrow());
    t.same(await living(sql), [to]);
  },

  'many tags of one client do not keep those of others': async (t, { sql }) => {
    const many = await makeTenant(sql, 'many');
    await many.makeTags(1_200);
    await sql`update tags set expires_at_ms = 1`;
    const few = await makeTenant(sql, 'few');
    await few.makeTag({ expiresAtMs: 1 });
    const upkeep = expiredTagsOf(sql);
    const left: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      await upkeep.run(tomorrow());
      left.push((await living(sql)).length);
    }
    t.same(left, [700, 200, 0]);
    const entries = await auditOf(sql, many.clientId);
    t.same(entries.map(({ detail }) => detail?.['tags']).sort(), [200, 500, 500]);
    t.equal((await auditOf(sql, few.clientId)).length, 1);
  },

  'of more clients than a run serves, the next run serves the rest': async (t, { sql }) => {
    for (let n = 0; n < 45; n += 1) {
      const { makeTag } = await makeTenant(sql, `client-${n}`);
      await makeTag({ expiresAtMs: 1 });
    }
    const upkeep = expiredTagsOf(sql);
    const left: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      await upkeep.run(tomorrow());
      left.push((await living(sql)).length);
    }
    t.same(left, [25, 5, 0]);
    const { makeTag } = await makeTenant(sql, 'last');
    await makeTag({ expiresAtMs: 1 });
    await upkeep.run(tomorrow());
    t.same(await living(sql), [], 'it begins again with the first client');
  },

  'a node that dies between any two statements leaves all or nothing': async (t, { sql }) => {
    const { clientId, makeTag } = await makeTenant(sql, 'acme');
    const tag = await makeTag({ expiresAtMs: 1 });
    let deaths = 0;
    for (; ; deaths += 1) {
      const died = await expiredTagsOf(mortal(sql, deaths))
        .run(tomorrow())
        .then(() => false)
        .catch(() => true);
      if (!died) break;
      t.same(await living(sql), [tag], `${deaths} statements`);
      t.same(await auditOf(sql, clientId), []);
    }
    t.ok(deaths >= 5, 'the clients, the lock, the tags, the version, the entry');
    t.same(await living(sql), []);
    t.equal((await auditOf(sql, clientId)).length, 1);
  },
});

await t.test('a tag whose expiration is extended meanwhile stays', (t) =>
  withPostgresStore(t, async (t, { sql }) => {
    const { clientId, makeTag } = await makeTenant(sql, 'acme');
    const tag = await makeTag({ expiresAtMs: 1 });
    const { run } = await transact(sql, async (tx) => {
      await lockClient(tx, clientId);
      const [before] = await tx<{ name: string }[]>`select name from tags where id = ${tag}`;
      const whole = {
        id: tag,
        clientId,
        name: before?.name ?? '',
        sourceId: null,
        groupId: null,
        expiresAtMs: Date.now() + 2 * DAY_MS,
        optionalParameters: {},
        appIds: null,
      };
      const run = expiredTagsOf(sql).run(tomorrow());
      await untilLockWaits('a lock is waited for', sql);
      await updateTags(tx, clientId, [whole]);
      return { run };
    });
    await run;
    t.same(await living(sql), [tag]);
    t.same(await auditOf(sql, clientId), []);
  }),
);
