/**
 * A client's devices and tags as the service changes them, beside a plain model of what must come
 * of it (tag-index-histories.test.ts).
 */

import type { Test } from 'tap';
import type { Store } from '../../src/database/store.ts';
import { ORDINAL_END_MAX } from '../../src/devices/device-limit.ts';
import { eraseDevices } from '../../src/devices/erase-devices.ts';
import { noteDeliveries } from '../../src/devices/note-deliveries.ts';
import type { DeviceRef } from '../../src/devices/operation.ts';
import { deviceRef } from '../../src/devices/operation.ts';
import { Registration } from '../../src/devices/register/registration.ts';
import { commitReplacement } from '../../src/devices/replace/replace-commit.ts';
import { devicesOfGroup, moveDevices } from '../../src/devices/sql/move-devices.ts';
import { reserveOrdinals } from '../../src/devices/sql/reserve-ordinals.ts';
import { UnwantedTags } from '../../src/devices/unwanted-tags.ts';
import { idleDeviceErasure } from '../../src/devices/upkeep.ts';
import type { ApnsEnvironment } from '../../src/domain/device.ts';
import { GROUP_DEVICES } from '../../src/domain/device.ts';
import { NO_ATTRIBUTES } from '../../src/domain/device-attributes.ts';
import type { DeviceGroupChange } from '../../src/domain/device-group-change.ts';
import type { Audience } from '../../src/domain/notification.ts';
import { carryOutDeletions } from '../../src/push/sql/deletions/carry-out.ts';
import { addDevice, noDevices } from '../../src/push/sql/ledger/reach-words.ts';
import { listDeviceGroupsOf } from '../../src/tag-index/groups/list-device-groups.ts';
import type { RedisAddress } from '../../src/tag-index/redis/connect.ts';
import { SqlTagIndex } from '../../src/tag-index/sql/sql-tag-index.ts';
import type { IndexFeed, TagIndex } from '../../src/tag-index/tag-index.ts';
import { silent } from '../support/app-api.ts';
import { makeNotification } from '../support/notifications.ts';
import { until } from '../support/poll.ts';
import type { NodeIndex } from '../support/redis-index.ts';
import { openNodeIndex, staleGroups } from '../support/redis-index.ts';
import type { Tenant } from '../support/tenant.ts';
import { makeTenant } from '../support/tenant.ts';
import { upkeepOf } from '../support/upkeep.ts';

export const TAGS = 5;
/** Above 511 members a tag's offsets are a bitmap. */
export const CROWD = 600;
/** So that the first ranges of ordinals lie on both sides of a group's border. */
const FIRST_ORDINAL = GROUP_DEVICES - 100;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Refusals that erase (devices/count-refusals.ts). */
const REFUSALS_MAX = 3;
/** Who is `old` has registered before. */
const FRESH_MS = 86_400_000;

const PLATFORMS = [3, 15] as const;
const NAMES = [
  'ab'.repeat(32),
  'CD'.repeat(32),
  'ef0',
  'Grün/😀',
  'x'.repeat(300),
  '0123456789abcdef',
];
export const DEVICES = NAMES.length * PLATFORMS.length;

export type Wish = {
  readonly kind: 'reg' | 'set' | 'ureg';
  readonly device: number;
  /** Null: `ureg` of all. */
  readonly tags: readonly number[] | null;
};

export type Step =
  | { readonly kind: 'burst'; readonly wishes: readonly Wish[] }
  | {
      readonly kind: 'crowd';
      readonly tag: number;
      readonly from: number;
      readonly isComing: boolean;
    }
  | { readonly kind: 'age'; readonly devices: readonly number[] }
  | { readonly kind: 'erase'; readonly devices: readonly number[]; readonly oldOnly: boolean }
  | {
      readonly kind: 'erase-reasons';
      readonly devices: readonly number[];
      readonly isRefusal: boolean;
    }
  | {
      readonly kind: 'delivered';
      readonly devices: readonly number[];
      readonly environment: ApnsEnvironment | null;
    }
  | {
      readonly kind: 'delete' | 'disconnect' | 'connect' | 'expire' | 'revive';
      readonly tag: number;
    }
  | { readonly kind: 'replace'; readonly device: number; readonly by: number }
  | { readonly kind: 'housekeeping' }
  /** Beside registrations. */
  | { readonly kind: 'compaction'; readonly wishes: readonly Wish[] };

/** A node of the engine, as far as it changes devices. */
export interface Node {
  readonly registration: Registration;
  readonly feed: IndexFeed;
  /** One Redis, and a cluster. */
  readonly indexes: readonly NodeIndex[];
}

export async function openNode(
  t: Test,
  store: Store,
  addresses: readonly RedisAddress[],
): Promise<Node> {
  const indexes = await Promise.all(
    addresses.map((address) => openNodeIndex(t, store.sql, address)),
  );
  const feed: IndexFeed = {
    apply: async (changes: readonly DeviceGroupChange[]) => {
      await Promise.all(indexes.map((index) => index.feed.apply(changes)));
    },
    forget: async (groups) => {
      await Promise.all(indexes.map((index) => index.feed.forget(groups)));
    },
  };
  const registration = new Registration({
    store,
    feed,
    log: silent,
    inFlightMax: 10_000,
    devicesPerAppMax: 1_000_000,
    tagsPerDeviceMax: 1_000,
    freshMs: FRESH_MS,
  });
  return { registration, feed, indexes };
}

interface ModelDevice {
  readonly tags: Set<number>;
  isOld: boolean;
  refusals: number;
  environment: ApnsEnvironment | null;
}

type TagState = { isDeleted: boolean; isConnected: boolean; isExpired: boolean };

/** A client with an app, five tags, and what the model knows of its devices. */
export class World {
  readonly #store: Store;
  readonly #nodes: readonly Node[];
  readonly #tenant: Tenant;
  readonly #otherApp: number;
  readonly #tagIds: readonly number[];
  readonly #tags: TagState[];
  readonly #devices = new Map<string, ModelDevice>();
  #turn = 0;

  static async make(store: Store, nodes: readonly Node[], slug: string): Promise<World> {
    const tenant = await makeTenant(store.sql, slug);
    const otherApp = await tenant.makeApp();
    await store.sql`
      update app_platforms set next_ordinal = ${FIRST_ORDINAL} where app_id = ${tenant.appId}`;
    return new World(store, nodes, tenant, otherApp, await tenant.makeTags(TAGS));
  }

  private constructor(
    store: Store,
    nodes: readonly Node[],
    tenant: Tenant,
    otherApp: number,
    tagIds: readonly number[],
  ) {
    this.#store = store;
    this.#nodes = nodes;
    this.#tenant = tenant;
    this.#otherApp = otherApp;
    this.#tagIds = tagIds;
    this.#tags = tagIds.map(() => ({ isDeleted: false, isConnected: true, isExpired: false }));
  }

  /** Does it, and imagines it. */
  async play(step: Step): Promise<void> {
    this.#turn += 1;
    switch (step.kind) {
      case 'burst':
        await this.#submit(this.#named(step.wishes));
        return;
      case 'compaction':
        await Promise.all([this.#compact(), this.#submit(this.#named(step.wishes))]);
        return;
      case 'crowd':
        await this.#submit(
          Array.from({ length: CROWD - step.from }, (_, n) => ({
            kind: step.isComing ? ('reg' as const) : ('ureg' as const),
            device: deviceRef(this.#tenant.appId, 15, `crowd ${step.from + n}`),
            tags: [step.tag],
          })),
        );
        return;
      case 'age':
        await this.#age(step.devices);
        return;
      case 'erase':
        await this.#erase(step.devices, step.oldOnly);
        return;
      case 'erase-reasons':
        await this.#judge(step.devices, step.isRefusal);
        return;
      case 'delivered':
        await this.#deliver(step.devices, step.environment);
        return;
      case 'replace':
        await this.#replace(this.#device(step.device), this.#device(step.by));
        return;
      case 'housekeeping':
        await this.#keepHouse();
        return;
      default:
        await this.#changeTag(step.kind, step.tag);
    }
  }

  /**
   * Changes that came too early for too long, on a busy machine, are repaired in the background.
   */
  async untilIndexed(): Promise<void> {
    const { sql } = this.#store;
    for (const { client, name, repairs } of this.#node.indexes) {
      await until('the index is current', async () => {
        const stale = await staleGroups(sql, client, name.current, this.#tenant.appId);
        repairs.ask(stale);
        return stale.length === 0 ? true : null;
      });
    }
  }

  /** Throws what is not as the model has it. */
  async compare(
    any: readonly number[],
    all: readonly number[],
    none: readonly number[],
    ordinalEnd: number,
  ): Promise<void> {
    const { sql } = this.#store;
    const asked: Audience = {
      anyTagIds: any.map((tag) => this.#idOf(tag)),
      allTagIds: all.map((tag) => this.#idOf(tag)),
      noneTagIds: none.map((tag) => this.#idOf(tag)),
    };
    const { appId } = this.#tenant;
    for (const platformId of PLATFORMS) {
      const expected = [...this.#devices]
        .filter(
          ([key, { tags }]) =>
            key.startsWith(`${platformId} `) &&
            any.some((tag) => tags.has(tag)) &&
            all.every((tag) => tags.has(tag)) &&
            !none.some((tag) => tags.has(tag)),
        )
        .map(([key, { refusals, environment }]) => `${key} ${refusals} ${environment}`)
        .sort();
      const indexes: readonly (readonly [string, TagIndex])[] = [
        ['SQL', new SqlTagIndex(sql)],
        ...this.#node.indexes.map(
          ({ index }, at) => [at === 0 ? 'Redis' : 'the cluster', index] as const,
        ),
      ];
      const scope = { appId, platformId };
      let ofSql = '';
      for (const [name, index] of indexes) {
        const whole = await this.#resolve(index, scope, asked, Number.MAX_SAFE_INTEGER);
        equal(whole.devices.sort(), expected, `${name} resolves`);
        equal(whole.rechecked.sort(), expected, `${name} rechecks`);
        equal(
          [String((await index.count(sql, scope, asked)).count)],
          [String(expected.length)],
          `${name} counts`,
        );
        const { devices } = await this.#resolve(index, scope, asked, ordinalEnd);
        if (name === 'SQL') ofSql = devices.join();
        else equal([devices.join()], [ofSql], `${name} resolves up to ${ordinalEnd}`);
      }
    }
  }

  /** Devices with what is noted of them, as the model writes them. */
  async #resolve(
    index: TagIndex,
    scope: { readonly appId: number; readonly platformId: number },
    asked: Audience,
    ordinalEnd: number,
  ): Promise<{ devices: string[]; rechecked: string[]; groups: number[] }> {
    const found: { devices: string[]; rechecked: string[]; groups: number[] } = {
      devices: [],
      rechecked: [],
      groups: [],
    };
    const textOf = (deviceId: string | undefined, history: unknown): string => {
      const { refusals, environment } = (history ?? {
        refusals: 0,
        environment: null,
      }) as ModelDevice;
      return `${scope.platformId} ${deviceId} ${refusals} ${environment}`;
    };
    for (const group of await listDeviceGroupsOf(this.#store.sql, scope)) {
      const { version: expectedVersion, groupNumber } = group;
      const run = await index.resolve({ group, audience: asked, ordinalEnd, expectedVersion });
      const ordinals = [...run.offsets].map((offset) => groupNumber * GROUP_DEVICES + offset);
      const leftOut = noDevices();
      const [even, odd] = [0, 1].map((rest) => [...run.offsets].filter((_, at) => at % 2 === rest));
      for (const offset of even ?? []) addDevice(leftOut, offset);
      const others = { group, audience: asked, ordinalEnd, expectedVersion, leftOut };
      if (`${[...(await index.resolve(others)).offsets]}` !== `${odd}`) {
        throw new Error(`group ${groupNumber}: others were left out than asked for`);
      }
      if (ordinals.length > 0) found.groups.push(groupNumber);
      for (const [at, ordinal] of ordinals.entries()) {
        found.devices.push(textOf(String(run.deviceIds.at(at)), run.histories.get(ordinal)));
      }
      const present = await index.recheck(scope, ordinals, asked);
      for (const [ordinal, deviceId] of present.deviceIds) {
        found.rechecked.push(textOf(deviceId, present.histories.get(ordinal)));
      }
    }
    return found;
  }

  #named(wishes: readonly Wish[]) {
    return wishes.map(({ device, ...wish }) => ({ ...wish, device: this.#device(device) }));
  }

  /** Moves the devices of a group to another place, but for those that are registering. */
  async #compact(): Promise<void> {
    const { sql } = this.#store;
    for (const platformId of PLATFORMS) {
      for (const group of await listDeviceGroupsOf(sql, { ...this.#tenant, platformId })) {
        const devices = await devicesOfGroup(sql, group, CROWD);
        const range = { count: CROWD, alignment: 1, endMax: ORDINAL_END_MAX };
        const start = (await reserveOrdinals(sql, group, range)) ?? 0;
        const moves = devices.map(({ ordinal }, at) => ({ from: ordinal, to: start + at }));
        const moved = await moveDevices(sql, group, moves);
        if (moved === null) throw new Error('a send is in the way');
        await this.#node.feed.apply(moved.changes);
      }
    }
  }

  /** All at once, over both nodes; what is asked for one device goes to one node, in order. */
  async #submit(
    wishes: readonly (Omit<Wish, 'device'> & { readonly device: DeviceRef })[],
  ): Promise<void> {
    const results = await Promise.all(
      wishes.map(({ kind, device, tags }) => {
        const at =
          (Number.parseInt(device.deviceKey.slice(-4), 16) + this.#turn) % this.#nodes.length;
        const node = this.#nodes[at] ?? this.#node;
        const tagIds = (tags ?? []).map((tag) => this.#idOf(tag));
        return node.registration.submit(
          kind === 'ureg'
            ? { kind, device, tagIds: tags === null ? 'all' : tagIds }
            : { kind, device, tagIds, attributes: NO_ATTRIBUTES },
        );
      }),
    );
    equal(
      results,
      wishes.map(() => 'committed'),
      'registrations',
    );
    for (const wish of wishes) this.#imagine(wish);
  }

  #imagine({ kind, device, tags }: Omit<Wish, 'device'> & { readonly device: DeviceRef }): void {
    const key = `${device.platformId} ${device.deviceId}`;
    const known = this.#devices.get(key);
    if (kind === 'ureg') {
      if (tags === null) known?.tags.clear();
      for (const tag of tags ?? []) known?.tags.delete(tag);
      return;
    }
    const welcome = (tags ?? []).filter((tag) => {
      const state = this.#tags[tag];
      return state !== undefined && !state.isDeleted && state.isConnected && !state.isExpired;
    });
    if (kind === 'set' && welcome.length === 0) return;
    const found = known ?? { tags: new Set(), isOld: false, refusals: 0, environment: null };
    this.#devices.set(key, found);
    found.isOld = false;
    found.refusals = 0;
    if (kind === 'set') found.tags.clear();
    for (const tag of welcome) found.tags.add(tag);
  }

  async #age(devices: readonly number[]): Promise<void> {
    const present = await this.#present(devices);
    const ordinals = present.map(({ ordinal }) => ordinal);
    await this.#store.sql`
      update devices set registered_at = registered_at - interval '2 days'
      where app_id = ${this.#tenant.appId}
        and (platform_id, ordinal) in (select * from unnest(
          ${present.map(({ platformId }) => platformId)}::smallint[], ${ordinals}::int[]))`;
    for (const { model } of present) model.isOld = true;
  }

  async #erase(devices: readonly number[], oldOnly: boolean): Promise<void> {
    const present = await this.#present(devices);
    const registeredBeforeMs = oldOnly ? Date.now() - HOUR_MS : null;
    const { changes } = await eraseDevices(
      this.#store.sql,
      present.map((place) => ({ ...place, registeredBeforeMs })),
    );
    await this.#node.feed.apply(changes);
    for (const { key, model } of present) if (model.isOld || !oldOnly) this.#devices.delete(key);
  }

  /** Outcomes of a provider in the ledger, which the next look carries out. */
  async #judge(devices: readonly number[], isRefusal: boolean): Promise<void> {
    const { sql } = this.#store;
    const { clientId, appId } = this.#tenant;
    const present = await this.#present(devices);
    const platformIds = [...PLATFORMS];
    const notificationId = await makeNotification(
      sql,
      { clientId, appId, tagId: this.#idOf(0) },
      { platformIds },
    );
    await sql`
      update notification_scopes set deletions = 'released' where notification_id = ${notificationId}`;
    // A refusal counts once a day.
    await sql`update devices set refused_at = refused_at - interval '2 days' where app_id = ${appId}`;
    await sql`
      insert into condemned_devices
        (notification_id, app_id, platform_id, ordinal, registered_before, is_refusal)
      select ${notificationId}, ${appId}, platform_id, ordinal, now() + interval '1 hour', ${isRefusal}::boolean
      from unnest(${present.map(({ platformId }) => platformId)}::smallint[],
        ${present.map(({ ordinal }) => ordinal)}::int[]) as condemned (platform_id, ordinal)`;
    for (const platformId of platformIds) {
      const scope = { notificationId, appId, platformId };
      const { changes } = await carryOutDeletions(sql, scope, 1_000);
      await this.#node.feed.apply(changes);
    }
    await sql`delete from notifications where id = ${notificationId}`;
    for (const { key, model } of present) {
      // Its app may have registered it again, unwritten: the first erase reason only counts.
      const isInDoubt = !model.isOld && model.refusals === 0;
      model.refusals += 1;
      if ((!isRefusal && !isInDoubt) || model.refusals === REFUSALS_MAX) this.#devices.delete(key);
    }
  }

  async #deliver(devices: readonly number[], environment: ApnsEnvironment | null): Promise<void> {
    const present = await this.#present(devices);
    const changes = await noteDeliveries(
      this.#store.sql,
      present.map((place) => ({ ...place, environment })),
    );
    await this.#node.feed.apply(changes);
    for (const { model } of present) {
      model.refusals = 0;
      model.environment = environment ?? model.environment;
    }
  }

  /** An app has another token. */
  async #replace(device: DeviceRef, by: DeviceRef): Promise<void> {
    if (device.platformId !== by.platformId) return;
    const replacement = { device, by, attributes: NO_ATTRIBUTES };
    const { changes } = await commitReplacement(this.#store.sql, replacement, TAGS);
    await this.#node.feed.apply(changes);
    const key = `${by.platformId} ${by.deviceId}`;
    const before = this.#devices.get(`${device.platformId} ${device.deviceId}`);
    if (before === undefined || device.deviceKey === by.deviceKey) return;
    this.#devices.delete(`${device.platformId} ${device.deviceId}`);
    const known = this.#devices.get(key);
    const living = [...before.tags].filter((tag) => this.#tags[tag]?.isDeleted === false);
    this.#devices.set(key, {
      tags: known === undefined ? before.tags : new Set([...known.tags, ...living]),
      isOld: false,
      refusals: 0,
      environment: known?.environment ?? null,
    });
  }

  async #changeTag(
    kind: 'delete' | 'disconnect' | 'connect' | 'expire' | 'revive',
    tag: number,
  ): Promise<void> {
    const { sql } = this.#store;
    const state = this.#tags[tag];
    if (state === undefined || state.isDeleted) return;
    const id = this.#idOf(tag);
    if (kind === 'delete') {
      state.isDeleted = true;
      // So long ago that housekeeping may go about it.
      await sql`update tags set deleted_at = now() - interval '1 hour' where id = ${id}`;
    } else if (kind === 'disconnect' || kind === 'connect') {
      state.isConnected = kind === 'connect';
      const appIds = kind === 'connect' ? null : [this.#otherApp];
      await sql`update tags set app_ids = ${appIds}::int[] where id = ${id}`;
    } else {
      state.isExpired = kind === 'expire';
      const expiresAtMs = kind === 'expire' ? Date.now() - HOUR_MS : null;
      await sql`update tags set expires_at_ms = ${expiresAtMs} where id = ${id}`;
    }
  }

  /**
   * The rest of deleted and disconnected tags goes, and so do devices without tags: ten days from
   * now all are idle.
   */
  async #keepHouse(): Promise<void> {
    const { feed } = this.#node;
    const { sql } = this.#store;
    const unwantedTags = new UnwantedTags({ sql, feed });
    const idleDevices = upkeepOf(sql, idleDeviceErasure(feed, DAY_MS));
    const now = Date.now();
    await upkeepOf(sql, unwantedTags.deleted).run(now);
    await upkeepOf(sql, unwantedTags.disconnected).run(now);
    // It looks at some of all devices at a time.
    const [all] = await sql<{ count: number }[]>`select count(*) as count from devices`;
    for (let seen = 0; seen <= (all?.count ?? 0); seen += 1_000) {
      await idleDevices.run(now + 10 * DAY_MS);
    }
    for (const [key, { tags }] of this.#devices) {
      for (const tag of tags) {
        const state = this.#tags[tag];
        if (state?.isDeleted === true || state?.isConnected === false) tags.delete(tag);
      }
      if (tags.size === 0) this.#devices.delete(key);
    }
  }

  /** Those of these devices that exist, with their places. */
  async #present(devices: readonly number[]) {
    const { appId } = this.#tenant;
    const refs = devices.map((device) => this.#device(device));
    const rows = await this.#store.sql<{ platformId: number; deviceId: string; ordinal: number }[]>`
      select platform_id as "platformId", device_id as "deviceId", ordinal from devices
      where app_id = ${appId} and device_id = any(${refs.map(({ deviceId }) => deviceId)}::text[])`;
    return refs.flatMap(({ platformId, deviceId }) => {
      const key = `${platformId} ${deviceId}`;
      const row = rows.find((row) => row.platformId === platformId && row.deviceId === deviceId);
      const model = this.#devices.get(key);
      equal([String(row !== undefined)], [String(model !== undefined)], `${key} exists`);
      if (row === undefined || model === undefined) return [];
      return [{ appId, platformId, ordinal: row.ordinal, key, model }];
    });
  }

  #device(device: number): DeviceRef {
    const platformId = PLATFORMS[device % PLATFORMS.length] ?? 3;
    const name = NAMES[Math.floor(device / PLATFORMS.length)] ?? '';
    return deviceRef(this.#tenant.appId, platformId, name);
  }

  #idOf(tag: number): number {
    return this.#tagIds[tag] ?? 0;
  }

  get #node(): Node {
    const node = this.#nodes[this.#turn % this.#nodes.length];
    if (node === undefined) throw new Error('there are no nodes');
    return node;
  }
}

/** Thrown, not asserted: fast-check shrinks a history that throws. */
function equal(found: readonly string[], expected: readonly string[], what: string): void {
  if (found.join() !== expected.join()) {
    throw new Error(`${what}: found [${found.join()}], expected [${expected.join()}]`);
  }
}
