/** Audit logs on every store: written with the change, read newest first, kept within bounds. */

import t from 'tap';
import { v7 as uuidV7 } from 'uuid';
import { recordChange } from '../../src/audit/record-change.ts';
import { listAuditEntries } from '../../src/audit/sql/list-entries.ts';
import { auditLogs } from '../../src/audit/upkeep.ts';
import type { Sql } from '../../src/database/sql.ts';
import { transact } from '../../src/database/transact.ts';
import type { AuditActor, AuditedChange } from '../../src/domain/audit.ts';
import { AUDIT_ACTIONS } from '../../src/domain/audit.ts';
import { addTenant } from '../support/api.ts';
import { makeKey } from '../support/keys.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { upkeepOf } from '../support/upkeep.ts';

const DAY_MS = 86_400_000;
const ALL = { action: null, fromMs: null, toMs: null };
const FEW = { access: 4, other: 4 };
const FIRST = { before: null, limit: 1_000 };
const change: AuditedChange = { action: 'tag.delete', id: 7, name: 'Tag' };
const operator: AuditActor = { kind: 'operator' };

const from = (clientId: number, actor: AuditActor = operator) => ({
  clientId,
  actor,
  address: '192.0.2.7',
  requestId: 'a',
});

/** Entries that are `days` old, as a node of that time has written them. */
async function writeOld(sql: Sql, clientId: number, days: number, count: number): Promise<void> {
  const msecs = Date.now() - days * DAY_MS;
  for (let index = 0; index < count; index += 1) {
    await sql`
      insert into audit_entries (id, client_id, at, actor_kind, action)
      values (${uuidV7({ msecs: msecs + index })}, ${clientId}, to_timestamp(${msecs + index}::float8 / 1000),
        'operator', 'tag.create')`;
  }
}

const list = (sql: Sql, clientId: number, more: object = {}) =>
  listAuditEntries(sql, clientId, { ...ALL, ...more }, FIRST);

await onEachStore(t, {
  'each actor, as it is told; one client does not see what is of another': async (t, { sql }) => {
    const acme = await addTenant(sql, 'acme');
    const other = await addTenant(sql, 'other');
    await makeKey(sql, acme, { scopes: ['admin'] });
    const [key] = await sql<{ id: number }[]>`select id from client_keys`;
    const actors: readonly AuditActor[] = [
      { kind: 'credential', name: 'acme-super' },
      { kind: 'key', id: key?.id ?? 0 },
      { kind: 'account', id: 3, name: 'jo@example.com' },
      operator,
    ];
    for (const actor of actors) await recordChange(sql, from(acme.clientId, actor), change);
    const entries = await list(sql, acme.clientId);
    t.same(
      entries.map(({ actorKind, actorId, actorName }) => [actorKind, actorId, actorName]),
      [
        ['operator', null, null],
        ['account', 3, 'jo@example.com'],
        ['key', key?.id, 'Key'],
        ['credential', null, 'acme-super'],
      ],
      'newest first',
    );
    t.match(entries[0], {
      ...{ action: 'tag.delete', objectId: '7', objectName: 'Tag' },
      ...{ address: '192.0.2.7', requestId: 'a', detail: null },
    });
    t.ok(Math.abs((entries[0]?.atMs ?? 0) - Date.now()) < 600_000);
    await sql`delete from client_keys`;
    t.match((await list(sql, acme.clientId))[2], { actorName: 'Key' }, 'after the key was deleted');
    t.same(await list(sql, other.clientId), []);
  },

  'it is there with the change, or not at all; details come back as they were': async (
    t,
    { sql },
  ) => {
    const { clientId } = await addTenant(sql, 'acme');
    const detail = { fields: ['name', 'a "b" \\ {c}'], tagsCreated: 1_000, given: true };
    const failed = transact(sql, async (tx) => {
      await recordChange(tx, from(clientId), change);
      throw new Error('the change failed');
    });
    await t.rejects(failed, /the change failed/);
    t.same(await list(sql, clientId), []);
    const done = { action: 'tags.change', id: null, name: null, detail } as const;
    await transact(sql, (tx) => recordChange(tx, from(clientId), done));
    t.match(await list(sql, clientId), [{ objectId: null, objectName: null, detail }]);
  },

  'by pages, by action, by time': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'acme');
    await writeOld(sql, clientId, 2, 3);
    await recordChange(sql, from(clientId), change);
    const ids = (await list(sql, clientId)).map(({ id }) => id);
    t.equal(ids.length, 4);
    const paged: string[] = [];
    for (let before: string | null = null; ; ) {
      const page = await listAuditEntries(sql, clientId, ALL, { before, limit: 3 });
      paged.push(...page.map(({ id }) => id));
      before = page.at(-1)?.id ?? null;
      if (before === null) break;
    }
    t.same(paged, ids);
    t.equal((await list(sql, clientId, { action: 'tag.create' })).length, 3);
    const nowMs = Date.now();
    t.equal((await list(sql, clientId, { fromMs: nowMs - DAY_MS })).length, 1);
    t.equal((await list(sql, clientId, { toMs: nowMs - DAY_MS })).length, 3);
    t.equal(new Set(AUDIT_ACTIONS).size, AUDIT_ACTIONS.length);
  },

  'old entries go, and those that are too many of one client': async (t, { sql }) => {
    const acme = await addTenant(sql, 'acme');
    const other = await addTenant(sql, 'other');
    await writeOld(sql, acme.clientId, 401, 2);
    await writeOld(sql, acme.clientId, 399, 5);
    await writeOld(sql, other.clientId, 399, 4);
    const logs = upkeepOf(sql, auditLogs(FEW));
    const newest = (await list(sql, acme.clientId)).slice(0, 4);
    await logs.run(Date.now());
    t.same(await list(sql, acme.clientId), newest);
    t.equal((await list(sql, other.clientId)).length, 4);
    await writeOld(sql, other.clientId, 1, 1);
    await logs.run(Date.now());
    t.equal((await list(sql, other.clientId)).length, 4, 'in another run');
  },

  'a log that one run cannot trim is the first of the next': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'acme');
    await sql`
      insert into clients (slug, name) select 'client-' || n, 'Client' from generate_series(1, 30) n`;
    await writeOld(sql, clientId, 1, 30);
    const logs = upkeepOf(sql, auditLogs(FEW, 1));
    await logs.run(Date.now());
    t.ok((await list(sql, clientId)).length > 4, 'too many for one run');
    await logs.run(Date.now());
    t.equal((await list(sql, clientId)).length, 4);
  },

  'what one actor repeats on one object is one entry with a count': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'acme');
    const moved = { action: 'notification.change', id: 'n', name: null } as const;
    const key: AuditActor = { kind: 'key', id: 5 };
    const by = (actor: AuditActor, fields: readonly string[], address = '192.0.2.7') =>
      recordChange(sql, { ...from(clientId, actor), address }, { ...moved, detail: { fields } });
    for (let index = 0; index < 200; index += 1) await by(key, ['sendAt']);
    t.match(await list(sql, clientId), [{ count: 200, lastAtMs: Number, actorId: 5 }]);
    await by(key, ['sendAt', 'priority']);
    await by({ kind: 'key', id: 6 }, ['sendAt']);
    await by(key, ['sendAt'], '192.0.2.8');
    await recordChange(sql, from(clientId, key), { ...moved, id: 'other' });
    const entries = await list(sql, clientId);
    t.same(
      entries.map(({ count, lastAtMs }) => [count, lastAtMs === null]),
      [...Array(4).fill([1, true]), [200, false]],
      'another change, actor, address or object is another entry',
    );
    for (let host = 0; host < 200; host += 1) await by(key, ['sendAt'], `2001:db8::${host}`);
    t.ok((await list(sql, clientId)).length < 25, 'who has many addresses does not fill the log');
    await sql`update audit_entries set at = at - interval '2 hours', last_at = last_at - interval '2 hours'`;
    const count = (await list(sql, clientId)).length;
    await by(key, ['sendAt']);
    t.equal((await list(sql, clientId)).length, count + 1, 'an hour later it is another');
  },

  'a repetition in a time is found by it': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'acme');
    await recordChange(sql, from(clientId), change);
    await sql`update audit_entries set at = at - interval '10 minutes'`;
    const fromMs = Date.now() - 300_000;
    t.same(await list(sql, clientId, { fromMs }), []);
    await recordChange(sql, from(clientId), change);
    t.match(await list(sql, clientId, { fromMs }), [{ count: 2 }]);
  },

  'who writes much displaces its own entries, and none of access': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'acme');
    const owner: AuditActor = { kind: 'account', id: 3, name: 'jo@example.com' };
    const flooding: AuditActor = { kind: 'key', id: 5 };
    const write = (actor: AuditActor, action: AuditedChange['action'], id: number) =>
      recordChange(sql, from(clientId, actor), { action, id, name: null });
    const access = ['key.create', 'webhook.delete', 'app.delete', 'member.change'] as const;
    for (const [id, action] of access.entries()) await write(owner, action, id);
    for (let id = 0; id < 8; id += 1) await write(owner, 'tag.create', id);
    for (let id = 0; id < 60; id += 1) await write(flooding, 'notification.cancel', id);
    await upkeepOf(sql, auditLogs({ access: 10, other: 20 })).run(Date.now());
    const left = await list(sql, clientId);
    const countOf = (kind: string, prefix: string) =>
      left.filter((one) => one.actorKind === kind && one.action.startsWith(prefix)).length;
    t.equal(countOf('account', 'tag.'), 8, 'those of others stay');
    t.equal(countOf('key', 'notification.'), 12);
    t.equal(left.length, 8 + 12 + access.length);
    for (let id = 10; id < 30; id += 1) await write(owner, 'key.delete', id);
    await upkeepOf(sql, auditLogs({ access: 10, other: 20 })).run(Date.now());
    const after = await list(sql, clientId);
    t.equal(after.filter(({ action }) => action === 'key.delete').length, 10, 'bounded, too');
    t.equal(after.length, 30);
  },

  'they go with their client': async (t, { sql }) => {
    const { clientId } = await addTenant(sql, 'acme');
    await recordChange(sql, from(clientId), change);
    await sql`delete from credentials`;
    await sql`delete from app_platforms`;
    await sql`delete from apps`;
    await sql`delete from clients`;
    t.same(await sql`select id from audit_entries`, []);
  },
});
