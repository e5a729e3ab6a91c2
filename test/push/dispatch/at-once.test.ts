/**
 * Small sends begin with their acceptance: their rows and claims are those that planner and claimer
 * would make, and others find a send whose node has died.
 */

import { pino } from 'pino';
import t from 'tap';
import { leaveNodes } from '../../../src/database/nodes/beats.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import type { Store } from '../../../src/database/store.ts';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import { AtOnce } from '../../../src/push/dispatch/at-once.ts';
import type { Claimed } from '../../../src/push/dispatch/claimed.ts';
import { partOf } from '../../../src/push/dispatch/claimed.ts';
import { Claimer } from '../../../src/push/dispatch/claimer.ts';
import { BATCH_PARTS_MAX } from '../../../src/push/dispatch/small-parts.ts';
import type { Batch } from '../../../src/push/dispatch/worker-pool.ts';
import { Presence } from '../../../src/push/protocol/presence.ts';
import { releaseAllLeases } from '../../../src/push/sql/ledger/release-all-leases.ts';
import type { NewNotification } from '../../../src/push/sql/notifications/insert-notifications.ts';
import { insertNotifications } from '../../../src/push/sql/notifications/insert-notifications.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { aNotification } from '../../support/a-notification.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import type { Tenant } from '../../support/notifications.ts';
import { claimChunksOf, makeTag, makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

const LEASE_MS = 60_000;
const NODE_ID = 7;

/** A node that holds what it claims until the test ends it. */
class Node {
  readonly claimed: Claimed[] = [];
  readonly batches: (Batch | null)[] = [];
  readonly claimer: Claimer;
  readonly atOnce: AtOnce;
  isBehind = false;
  private readonly ends: (() => void)[] = [];

  constructor(t: Lifetime, store: Store, { slots = 24, isPresent = true } = {}) {
    const presence = new Presence(systemClock);
    presence.prolong(NODE_ID, isPresent ? systemClock.monotonicMs() + 3_600_000 : 0);
    this.claimer = new Claimer({
      store,
      slots,
      reservedSlots: 0,
      leaseMs: LEASE_MS,
      presence,
      clock: systemClock,
      log: pino({ level: 'silent' }),
      authorize: () => Promise.reject(new Error('nobody waits for it')),
      onRoom: () => undefined,
      start: (claimed, _, batch) => {
        this.claimed.push(claimed);
        this.batches.push(batch);
        return {
          finished: new Promise((resolve) => this.ends.push(resolve)),
          giveBack: () => undefined,
        };
      },
    });
    this.atOnce = new AtOnce({ store, claimer: this.claimer, isAnyUnplanned: () => this.isBehind });
    t.teardown(async () => {
      this.finishAll();
      await this.claimer.drain({ withinMs: 0, answersWithinMs: 0 });
    });
  }

  finishAll(): void {
    for (const end of this.ends) end();
  }

  get ids(): readonly string[] {
    return this.claimed.map((claimed) => partOf(claimed).notificationId);
  }
}

const sendTo = (
  { clientId, appId, tagId }: Tenant,
  more: Partial<NewNotification> = {},
): NewNotification =>
  aNotification({
    clientId,
    audience: { anyTagIds: [tagId], allTagIds: [], noneTagIds: [] },
    scopes: [3, 15].map((platformId) => ({ appId, platformId, isSimulated: platformId === 3 })),
    ...more,
  });

async function makeAudience(sql: SqlPool, slug: string, count = 3): Promise<Tenant> {
  const tenant = await makeTenant(sql, slug);
  await seedDevices(sql, { ...tenant, platformId: 3, tagIds: [tenant.tagId], count });
  return tenant;
}

/** All that the tables have of a notification, without its times. */
async function rowsOf(sql: SqlPool, id: string) {
  const [notifications, scopes, chunks] = await Promise.all([
    sql`select *, null as id, null as accepted_at, null as send_at from notifications where id = ${id}`,
    sql`select *, null as notification_id from notification_scopes where notification_id = ${id} order by 2, 3`,
    sql`
      select *, null as notification_id, null as available_at, lease_until > now() as lease_until
      from chunks where notification_id = ${id}`,
  ]);
  return [[...notifications], [...scopes], [...chunks]];
}

await onEachStore(t, {
  'rows and claim are those of planner and claimer': async (t, store) => {
    const { sql } = store;
    const tenant = await makeAudience(sql, 'same');
    const { clientId, appId, tagId } = tenant;
    const other = await makeTag(sql, clientId, {});
    const gone = await makeTag(sql, clientId, { expiresAtMs: Date.now() - 1_000 });
    const node = new Node(t, store);
    const expiresAtMs = Date.now() + 60_000;
    for (const more of [
      {},
      { isAtMostOnce: true, isUrgent: true, expiresAtMs },
      { audience: { anyTagIds: [tagId, gone], allTagIds: [tagId], noneTagIds: [other] } },
      {
        expression: 'a || !b',
        audience: {
          anyTagIds: [tagId],
          allTagIds: [],
          noneTagIds: [],
          condition: { any: [{ tagId }] } as never,
        },
      },
      {
        templated: {
          given: { title: 'given' },
          payloads: { [`${appId}.3`]: { title: 'Tor!', data: { a: 'b' } } },
        },
      },
    ] satisfies readonly Partial<NewNotification>[]) {
      const [atOnce, inTurn] = [sendTo(tenant, more), sendTo(tenant, more)];
      t.match(await node.atOnce.insert([atOnce]), [{ id: atOnce.id, state: 'QUEUED' }]);
      await insertNotifications(sql, [inTurn]);
      await planDue(sql);
      const [expected] = await claimChunksOf(sql, inTurn.id, LEASE_MS, 1, NODE_ID);
      const claimed = node.claimed.at(-1);
      t.match(claimed, { kind: 'chunk', nodeId: NODE_ID });
      if (claimed?.kind !== 'chunk' || expected === undefined) throw new Error('nothing claimed');
      const { notificationId, dueAtMs, claimedAtMs, terms, ...chunk } = claimed.chunk;
      const { notificationId: _, dueAtMs: itsDue, claimedAtMs: itsClaim, ...same } = expected;
      t.equal(notificationId, atOnce.id);
      const { condition = null, isToEverybody = null } = terms.audience;
      const audience = { ...terms.audience, condition, isToEverybody };
      t.same({ ...chunk, terms: { ...terms, audience } }, same);
      t.ok(dueAtMs <= itsDue && claimedAtMs <= itsClaim && dueAtMs > Date.now() - 60_000);
      t.same(await rowsOf(sql, atOnce.id), await rowsOf(sql, inTurn.id));
    }
  },

  'many that come together share slots by (app, platform)': async (t, store) => {
    const { sql } = store;
    const tenant = await makeAudience(sql, 'many');
    const node = new Node(t, store);
    const sends = Array.from({ length: BATCH_PARTS_MAX + 2 }, () => sendTo(tenant));
    const written = await node.atOnce.insert(sends);
    t.equal(written?.length, sends.length);
    t.same(node.ids.toSorted(), sends.map(({ id }) => id).sort());
    t.equal(new Set(node.batches).size, 2, 'two slots, though both platforms had two');
    t.notOk(node.batches.includes(null));
  },

  'what is not small is accepted only, and planned in its turn': async (t, store) => {
    const { sql } = store;
    const node = new Node(t, store);
    const wide = await makeTenant(sql, 'wide');
    const devices = { ...wide, platformId: 3, tagIds: [wide.tagId], count: 2, step: GROUP_DEVICES };
    await seedDevices(sql, devices);
    const toMany = sendTo(wide);
    const toNobody = sendTo(await makeTenant(sql, 'nobody'));
    for (const send of [toMany, toNobody]) {
      t.match(await node.atOnce.insert([send]), [{ id: send.id, state: 'QUEUED', chunks: [] }]);
    }
    t.equal(node.claimed.length, 0);
    const planned = await planDue(sql);
    t.same(
      planned.map(({ id, scopes }) => [id, scopes.map(({ chunks }) => chunks)]).sort(),
      [
        [toMany.id, [2]],
        [toNobody.id, []],
      ].sort(),
    );
    for (const more of [
      { sendAtMs: Date.now() + 60_000 },
      { ratePerSecond: 10 },
      { pauseAfter: 1 },
    ]) {
      t.equal(await node.atOnce.insert([sendTo(wide, more)]), null);
    }
  },

  'a device that registered before the request is in the audience; a vacant group is not': async (
    t,
    store,
  ) => {
    const { sql } = store;
    const tenant = await makeAudience(sql, 'vacant', 1);
    const node = new Node(t, store);
    const { appId } = tenant;
    await sql`
      insert into device_groups (app_id, platform_id, group_number, version, vacant_version)
      values (${appId}, 3, 0, 4, 4)
      on conflict (app_id, platform_id, group_number) do update set version = 4, vacant_version = 4`;
    t.match(await node.atOnce.insert([sendTo(tenant)]), [{ chunks: [] }]);
    await sql`update device_groups set version = 5 where app_id = ${appId}`;
    t.match(await node.atOnce.insert([sendTo(tenant)]), [{ chunks: [{ groupVersion: 5 }] }]);
  },

  'without a free slot, or when it may not send, nothing is written': async (t, store) => {
    const { sql } = store;
    const tenant = await makeAudience(sql, 'none');
    const full = new Node(t, store, { slots: 2 });
    t.equal((await full.atOnce.insert([sendTo(tenant)]))?.length, 1);
    t.equal(await full.atOnce.insert([sendTo(tenant)]), null, 'its platforms have no two slots');
    full.finishAll();
    await new Promise(setImmediate);
    t.equal((await full.atOnce.insert([sendTo(tenant)]))?.length, 1, 'a slot is free again');
    const silent = new Node(t, store, { isPresent: false });
    t.equal(await silent.atOnce.insert([sendTo(tenant)]), null);
    t.equal((await sql`select from notifications`).length, 2);
  },

  'while others wait for their plan, some slots are left for them': async (t, store) => {
    const tenant = await makeAudience(store.sql, 'behind');
    const node = new Node(t, store, { slots: 8 });
    node.isBehind = true;
    const replacing = { payload: { title: '1:1', collapseId: 'match-7', data: {} } };
    t.equal(await node.atOnce.insert([sendTo(tenant, replacing)]), null, '1:0 may be waiting');
    for (const wasFree of [true, true, true]) {
      t.equal((await node.atOnce.insert([sendTo(tenant)])) !== null, wasFree);
    }
    t.equal(
      await node.atOnce.insert([sendTo(tenant)]),
      null,
      'two of eight stay free, and its scope may not take all others',
    );
    node.isBehind = false;
    t.match(await node.atOnce.insert([sendTo(tenant)]), [{ chunks: [{ groupNumber: 0 }] }]);
  },

  'a taken idempotency key and a refused statement leave no slot behind': async (t, store) => {
    const tenant = await makeAudience(store.sql, 'keyed');
    const node = new Node(t, store, { slots: 4 });
    const idempotency = { key: 'once', bodyHash: Buffer.alloc(32) };
    const [first, second] = [sendTo(tenant, { idempotency }), sendTo(tenant, { idempotency })];
    t.match(await node.atOnce.insert([first]), [{ id: first.id }]);
    t.same(await node.atOnce.insert([second]), []);
    await t.rejects(node.atOnce.insert([sendTo({ ...tenant, clientId: 0 })]), /foreign key/);
    t.match(await node.atOnce.insert([sendTo(tenant)]), [{ chunks: [{ groupNumber: 0 }] }]);
    t.equal(node.claimed.length, 2);
  },

  'nothing waits for a lock, and nothing is planned from before it': async (t, store) => {
    // The embedded store is one session: no transaction holds a lock while another runs.
    if (store.address.kind === 'embedded') return;
    const { sql } = store;
    const tenant = await makeAudience(sql, 'locked');
    const node = new Node(t, store, { slots: 4 });
    const idempotency = { key: 'taken', bodyHash: Buffer.alloc(32) };
    await sql.begin(async (tx) => {
      await tx`select from clients where id = ${tenant.clientId} for update`;
      t.equal(await node.atOnce.insert([sendTo(tenant)]), null, 'its devices are being moved');
    });
    await sql.begin(async (tx) => {
      await insertNotifications(tx, [sendTo(tenant, { idempotency })]);
      t.equal(await node.atOnce.insert([sendTo(tenant, { idempotency })]), null, 'one key');
    });
    t.match(await node.atOnce.insert([sendTo(tenant)]), [{ chunks: [{ groupNumber: 0 }] }]);
  },

  'when the node dies after the commit, another claims it': async (t, store) => {
    const { sql, address } = store;
    const tenant = await makeAudience(sql, 'dies');
    await sql`insert into nodes (id, host, pid) overriding system value values (${NODE_ID}, 'here', 1)`;
    const node = new Node(t, store);
    const send = sendTo(tenant);
    await node.atOnce.insert([send]);
    t.same(await claimChunksOf(sql, send.id, LEASE_MS, 1, 8), [], 'it is held');
    if (address.kind === 'embedded') await sql.begin(releaseAllLeases);
    else await leaveNodes(sql, NODE_ID);
    t.match(await claimChunksOf(sql, send.id, LEASE_MS, 1, 8), [
      { epoch: 2, claimsWithoutProgress: 2 },
    ]);
  },
});
