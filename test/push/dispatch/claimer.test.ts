import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import type { Store } from '../../../src/database/store.ts';
import { GROUP_DEVICES } from '../../../src/domain/device.ts';
import type { Claimed } from '../../../src/push/dispatch/claimed.ts';
import { partOf } from '../../../src/push/dispatch/claimed.ts';
import { Claimer } from '../../../src/push/dispatch/claimer.ts';
import type { Assignment } from '../../../src/push/dispatch/dispatcher.ts';
import { Presence } from '../../../src/push/protocol/presence.ts';
import { planDue } from '../../../src/push/sql/notifications/plan-due.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { systemClock } from '../../../src/std/clock.ts';
import {
  claimChunksOf,
  makeNotification,
  makeRunning,
  makeTenant,
} from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { seedDevices } from '../../support/seed.ts';
import { withStores } from '../../support/store.ts';

/** So many chunks to claim: how many devices are in each is nothing to a claimer. */
const oneInEachGroup = { step: GROUP_DEVICES };
const AT_ONCE = { withinMs: 0, answersWithinMs: 0 };
const AT_NOON: Clock = { ...systemClock, monotonicMs: () => 43_200_000 };

/** Each moment is an hour before the one before it: no look that comes in any case is ever due. */
function backwards(): Clock {
  let nowMs = 0;
  return {
    ...systemClock,
    monotonicMs() {
      nowMs -= 3_600_000;
      return nowMs;
    },
  };
}

/**
 * The presence of a node that the database has not heard of for too long, until it is prolonged;
 * counts the questions.
 */
class AskedPresence extends Presence {
  asked = 0;

  constructor(nodeId: number) {
    super(systemClock);
    this.prolong(nodeId, 0);
  }

  override covers(nodeId: number | null): boolean {
    this.asked += 1;
    return super.covers(nodeId);
  }
}

/** A node: holds what it claims until the test lets it finish. */
class Node {
  /** Called in the midst of each claim. */
  whileClaiming = (): void => undefined;
  /** Called before something that was asked to give back has ended. */
  reportGivenBack = (): Promise<unknown> => Promise.resolve();
  readonly claimed: Claimed[] = [];
  readonly askedToGiveBack: Claimed[] = [];
  readonly claimer: Claimer;
  private readonly ends = new Map<Claimed, () => void>();

  constructor(
    store: Store,
    slots: number,
    leaseMs = 60_000,
    presence = new Presence(systemClock),
    reservedSlots = 0,
    clock: Clock = systemClock,
  ) {
    this.claimer = new Claimer({
      store,
      slots,
      reservedSlots,
      leaseMs,
      presence,
      clock,
      log: pino({ level: 'silent' }),
      authorize: () => {
        this.whileClaiming();
        return Promise.reject(new Error('nobody waits for it'));
      },
      onRoom: () => undefined,
      start: (claimed) => this.start(claimed),
    });
    this.claimer.start();
  }

  finish(claimed: Claimed): void {
    this.ends.get(claimed)?.();
    this.ends.delete(claimed);
  }

  finishAll(): void {
    for (const claimed of this.ends.keys()) this.finish(claimed);
  }

  keys(): readonly string[] {
    return this.claimed.map((claimed) =>
      claimed.kind === 'chunk'
        ? `${claimed.chunk.notificationId}/${claimed.chunk.groupNumber}/${claimed.chunk.epoch}`
        : 'retries',
    );
  }

  private start(claimed: Claimed): Assignment {
    this.claimed.push(claimed);
    const finished = new Promise<void>((resolve) => this.ends.set(claimed, resolve));
    const giveBack = (): void => {
      this.askedToGiveBack.push(claimed);
      void this.reportGivenBack().then(() => this.finish(claimed));
    };
    return { finished, giveBack };
  }
}

await withStores(t, async (t, store) => {
  const { sql } = store;

  await t.test('two claimers share the chunks, and none is claimed twice', async (t) => {
    const id = await makeRunning(sql, await makeTenant(sql, 'shared'), 12, oneInEachGroup);
    const nodes = [new Node(store, 4), new Node(store, 4)];
    const all = await until('all are claimed', () => {
      const keys = nodes.flatMap((node) => node.keys());
      if (keys.length >= 12) return keys;
      for (const node of nodes) node.finishAll();
      return null;
    });
    t.equal(new Set(all).size, 12);
    t.ok(
      all.every((key) => key.startsWith(id) && key.endsWith('/1')),
      'each in its first epoch',
    );
    for (const node of nodes) {
      node.finishAll();
      await node.claimer.drain(AT_ONCE);
    }
  });

  await t.test(
    'a small notification of another tenant beside a big one gets a slot at once',
    async (t) => {
      const tenant = await makeTenant(sql, 'fair');
      const big = await makeRunning(sql, tenant, 12, oneInEachGroup);
      const node = new Node(store, 3);
      await until('its share is taken', () => (node.claimed.length === 2 ? true : null));
      const small = await makeRunning(sql, await makeTenant(sql, 'fair-small'), 10);
      await until('the next is claimed', () => (node.claimed.length >= 3 ? true : null));
      t.strictSame(
        node.claimed.slice(0, 3).map((claimed) => partOf(claimed).notificationId),
        [big, big, small],
      );
      node.finishAll();
      await node.claimer.drain(AT_ONCE);
      await sql`delete from notifications where id in ${sql([big, small])}`;
    },
  );

  for (const reservedSlots of [1, 0]) {
    await t.test(
      `an urgent one begins while others hold all slots; reserved: ${reservedSlots}`,
      async (t) => {
        const tenant = await makeTenant(sql, `urgent-${reservedSlots}`);
        const other = await makeTenant(sql, `beside-urgent-${reservedSlots}`);
        const big = await makeRunning(sql, tenant, 12, oneInEachGroup);
        const beside = await makeRunning(sql, other, 12, oneInEachGroup);
        // Time stands still: no holder of a slot has had it for its quantum.
        const presence = new Presence(systemClock);
        const node = new Node(store, 2, 60_000, presence, reservedSlots, AT_NOON);
        await until('all slots are held', () => (node.claimed.length === 2 ? true : null));
        const id = await makeNotification(sql, tenant, { isUrgent: true });
        node.claimer.offer(await planDue(sql));
        await until('it is claimed', () => (node.claimed.length === 3 ? true : null));
        t.match(node.claimed.map(partOf)[2], { notificationId: id, terms: { isUrgent: true } });
        t.equal(node.askedToGiveBack.length, 1 - reservedSlots, 'who made room for it');
        node.finishAll();
        await node.claimer.drain(AT_ONCE);
        await sql`delete from notifications where id in ${sql([big, beside, id])}`;
      },
    );
  }

  await t.test('for one that comes in the midst of a claim nobody makes room', async (t) => {
    const tenant = await makeTenant(sql, 'midst');
    await seedDevices(sql, { ...tenant, platformId: 3, tagIds: [tenant.tagId], count: 10 });
    // After its first look it knows of nothing but what it is offered.
    const presence = new AskedPresence(7);
    presence.prolong(7, systemClock.monotonicMs() + 60_000);
    const node = new Node(store, 4, 60_000, presence, 1, backwards());
    await until('it has looked', () => (presence.asked > 0 ? true : null));
    const ids = [await makeNotification(sql, tenant), await makeNotification(sql, tenant)];
    const first = await planDue(sql);
    ids.push(await makeNotification(sql, tenant, { isUrgent: true }));
    const urgent = await planDue(sql);
    node.whileClaiming = () => {
      node.whileClaiming = () => undefined;
      node.claimer.offer(urgent);
    };
    node.claimer.offer(first);
    await until('all are claimed', () => (node.claimed.length === 3 ? true : null));
    t.strictSame(
      node.claimed.map((claimed) => partOf(claimed).notificationId),
      ids,
    );
    t.equal(node.askedToGiveBack.length, 0);
    node.finishAll();
    await node.claimer.drain(AT_ONCE);
    await sql`delete from notifications where id = any(${ids}::uuid[])`;
  });

  await t.test('small ones that made room are claimed again without the next sweep', async (t) => {
    const tenant = await makeTenant(sql, 'given-back');
    await seedDevices(sql, { ...tenant, platformId: 3, tagIds: [tenant.tagId], count: 10 });
    const ids = [await makeNotification(sql, tenant), await makeNotification(sql, tenant)];
    // Time stands still: after its first look no regular one comes, and no sweep.
    const node = new Node(store, 1, 60_000, new Presence(AT_NOON), 0, AT_NOON);
    node.reportGivenBack = () => sql`
      update chunks set lease_until = null, node_id = null where notification_id = any(${ids}::uuid[])`;
    node.claimer.offer(await planDue(sql));
    await until('they have the slot', () => (node.claimed.length === 2 ? true : null));
    const waiting = await makeNotification(sql, tenant);
    node.claimer.offer(await planDue(sql));
    const urgent = await makeNotification(sql, tenant, { isUrgent: true });
    node.claimer.offer(await planDue(sql));
    await until('the urgent one has it', () => (node.claimed.length === 3 ? true : null));
    t.equal(node.askedToGiveBack.length, 2);
    node.finishAll();
    await until('they have it again, in one batch', () =>
      node.claimed.length === 6 ? true : null,
    );
    t.strictSame(
      node.claimed.map((claimed) => partOf(claimed).notificationId).sort(),
      [...ids, urgent, ...ids, waiting].sort(),
    );
    node.finishAll();
    await node.claimer.drain(AT_ONCE);
    await sql`delete from notifications where id = any(${[...ids, waiting, urgent]}::uuid[])`;
  });

  await t.test('while nobody waits for a slot, a quarter of them is filled together', async (t) => {
    const id = await makeRunning(sql, await makeTenant(sql, 'together'), 40, oneInEachGroup);
    // A look that came between two of them would fill the first alone.
    const node = new Node(store, 12, 60_000, new Presence(systemClock), 0, backwards());
    let claims = 8;
    await until('its share is taken', () => (node.claimed.length === claims ? true : null));
    /** Three slots become free, one after the other; whether they were filled by one claim. */
    const refill = async (): Promise<boolean> => {
      for (const claimed of node.claimed.slice(claims - 8, claims - 5)) {
        node.finish(claimed);
        await nextTurn();
      }
      claims += 3;
      await until('they are filled', () => (node.claimed.length === claims ? true : null));
      const starts = node.claimed.slice(-3).map(({ leaseStartedMs }) => leaseStartedMs);
      return new Set(starts).size === 1;
    };
    t.same([await refill(), await refill(), await refill(), await refill()], Array(4).fill(true));
    t.equal(new Set(node.keys()).size, claims);
    node.finishAll();
    await node.claimer.drain(AT_ONCE);
    await sql`delete from notifications where id = ${id}`;
  });

  await t.test(
    'when no slot becomes free, the one held for longest is asked to yield',
    async (t) => {
      const tenant = await makeTenant(sql, 'slow');
      const big = await makeRunning(sql, tenant, 4, oneInEachGroup);
      const node = new Node(store, 3);
      await until('its share is taken', () => (node.claimed.length === 2 ? true : null));
      const small = await makeRunning(sql, tenant, 10);
      await until('the small one is served', () =>
        node.claimed.some((claimed) => partOf(claimed).notificationId === small) ? true : null,
      );
      t.equal(node.askedToGiveBack.length, 1);
      t.equal(node.askedToGiveBack[0], node.claimed[0]);
      node.finishAll();
      await node.claimer.drain(AT_ONCE);
      await sql`delete from notifications where id in ${sql([big, small])}`;
    },
  );

  await t.test('a lease that has ended is claimed by another, in a new epoch', async (t) => {
    const id = await makeRunning(sql, await makeTenant(sql, 'dead-node'), 10);
    const dead = new Node(store, 1, 300);
    await until('it has claimed', () => (dead.claimed.length === 1 ? true : null));
    const heir = new Node(store, 1);
    await until('the heir has claimed', () => (heir.claimed.length === 1 ? true : null));
    t.strictSame(heir.keys(), [`${id}/0/2`]);
    for (const node of [dead, heir]) {
      node.finishAll();
      await node.claimer.drain(AT_ONCE);
    }
  });

  await t.test('while its node is not present it claims nothing', async (t) => {
    const id = await makeRunning(sql, await makeTenant(sql, 'absent'), 10);
    const presence = new AskedPresence(7);
    const node = new Node(store, 1, 60_000, presence);
    await until('it has tried some times', () => (presence.asked > 2 ? true : null));
    t.equal(node.claimed.length, 0);
    presence.prolong(7, systemClock.monotonicMs() + 60_000);
    await until('it has claimed', () => (node.claimed.length === 1 ? true : null));
    t.match(node.claimed[0], { nodeId: 7, chunk: { notificationId: id, epoch: 1 } });
    const [row] = await sql`
      select node_id, node_epoch from chunks where notification_id = ${id}`;
    t.match(row, { node_id: 7, node_epoch: 1 });
    node.finishAll();
    await node.claimer.drain(AT_ONCE);
    await sql`delete from notifications where id = ${id}`;
  });

  await t.test('retries are leased for as long as their answers may take', async (t) => {
    const tenant = await makeTenant(sql, 'late-answers');
    const id = await makeRunning(sql, tenant, 10);
    const [chunk] = await claimChunksOf(sql, id, 60_000);
    t.ok(chunk, 'the chunk is held elsewhere');
    await sql`
      insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at)
      values (${id}, ${tenant.appId}, 3, 1, 1, 'Late', now())`;
    await sql`update notifications set open_retries = 1 where id = ${id}`;
    const node = new Node(store, 1, 500);
    await until('it has claimed', () => (node.claimed.length === 1 ? true : null));
    t.equal(node.claimed[0]?.kind, 'retries');
    const [row] = await sql<{ leftMs: number }[]>`
      select extract(epoch from lease_until - now())::float8 * 1000 as "leftMs"
      from retries where notification_id = ${id}`;
    t.ok((row?.leftMs ?? 0) > 15_000, 'a send just before half of the lease, and its time-out');
    node.finishAll();
    await node.claimer.drain(AT_ONCE);
    await sql`delete from notifications where id = ${id}`;
  });

  await t.test('drain claims nothing more and asks for everything back', async (t) => {
    await makeRunning(sql, await makeTenant(sql, 'draining'), 4, oneInEachGroup);
    const node = new Node(store, 3);
    await until('its share is taken', () => (node.claimed.length === 2 ? true : null));
    await node.claimer.drain(AT_ONCE);
    t.equal(node.askedToGiveBack.length, 2);
    t.equal(node.claimed.length, 2);
  });
});
