/**
 * The layouts that are compared. Each is filled in the same way, through commands that a plain
 * program would use, and asked for the tokens of every device that matches.
 */

import { GROUP_DEVICES, groupNumberOf, offsetOf } from '../../../src/domain/device.ts';
import type { Audience } from '../../../src/domain/notification.ts';
import { systemClock } from '../../../src/std/clock.ts';
import type { RedisClient } from '../../../src/tag-index/redis/connect.ts';
import { connectWhole } from '../../../src/tag-index/redis/connect.ts';
import { writeGroup } from '../../../src/tag-index/redis/load-group.ts';
import { encodeList } from '../../../src/tag-index/redis/offsets.ts';
import { RedisBreaker } from '../../../src/tag-index/redis/redis-breaker.ts';
import { RedisTagIndex } from '../../../src/tag-index/redis/redis-tag-index.ts';
import type { TagIndex } from '../../../src/tag-index/tag-index.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import { groupsOf, tokenOf } from './population.ts';

/** Subscribers by tag. */
export type Subscribers = ReadonlyMap<number, Iterable<number>>;

export interface Layout {
  readonly name: string;
  /** Devices without a tag. */
  fillDevices(devices: number): Promise<void>;
  fillTags(devices: number, subscribers: Subscribers): Promise<void>;
  /** Answers how many tokens it was given. */
  resolve(devices: number, audience: Audience): Promise<number>;
}

export type LayoutName = 'ours' | 'set of tokens' | 'set of ids';

const SCOPE = { appId: 1, platformId: 3 };
const INDEX_NAME = 'bench';
/** Groups under way, as a worker's tasks have them. */
const GROUPS_AT_ONCE = 8;
/** Members of one SADD, and of one answer of SSCAN. */
const BATCH = 1_000;

export async function openLayout(stage: Lifetime, name: LayoutName, url: string): Promise<Layout> {
  const client = await connectWhole({ kind: 'single', url });
  if (typeof client === 'string') throw new Error(client);
  stage.teardown(() => client.disconnect());
  switch (name) {
    case 'ours':
      return ours(client);
    case 'set of tokens':
      return plainSets(client, name, { isOfTokens: true });
    case 'set of ids':
      return plainSets(client, name, { isOfTokens: false });
  }
}

function ours(client: RedisClient): Layout {
  const index = new RedisTagIndex({
    client,
    name: { current: INDEX_NAME, doubt: () => Promise.resolve() },
    breaker: new RedisBreaker({
      clock: systemClock,
      onChange: (error) => {
        throw error;
      },
      onRefusal: (error) => {
        throw error;
      },
    }),
    sql: undefined as never,
    database: nobodyElse,
    clock: systemClock,
  });
  const groupAt = (groupNumber: number) => ({ ...SCOPE, groupNumber });
  const load = async (
    devices: number,
    groupNumber: number,
    tags: readonly (readonly [number, Buffer])[],
  ): Promise<void> => {
    const start = groupNumber * GROUP_DEVICES;
    const offsets = Array.from(
      { length: Math.min(GROUP_DEVICES, devices - start) },
      (_, offset) => offset,
    );
    const deviceIds = offsets.map((offset) => tokenOf(start + offset));
    const content = { version: 1, offsets, deviceIds, histories: [], tags };
    await writeGroup(client, INDEX_NAME, groupAt(groupNumber), content, { isForced: true });
  };
  // All that was filled so far: a group is loaded whole.
  const groups = new Map<number, Map<number, number[]>>();
  const tagsOf = (group: number): Map<number, number[]> => {
    const tags = groups.get(group) ?? new Map<number, number[]>();
    groups.set(group, tags);
    return tags;
  };
  return {
    name: 'ours',
    async fillDevices(devices) {
      for (let group = 0; group < groupsOf(devices); group += 1) await load(devices, group, []);
    },
    async fillTags(devices, subscribers) {
      const touched = new Set<number>();
      for (const [tagId, ordinals] of subscribers) {
        for (const ordinal of ordinals) {
          touched.add(groupNumberOf(ordinal));
          pushTo(tagsOf(groupNumberOf(ordinal)), tagId, offsetOf(ordinal));
        }
      }
      for (const group of touched) {
        const tags = [...tagsOf(group)].map(([tagId, list]) => [tagId, encodeList(list)] as const);
        await load(devices, group, tags);
      }
    },
    async resolve(devices, audience) {
      let count = 0;
      const queue = Array.from({ length: groupsOf(devices) }, (_, group) => group).values();
      const work = async (): Promise<void> => {
        for (const groupNumber of queue) {
          const run = await index.resolve({
            group: groupAt(groupNumber),
            audience,
            ordinalEnd: devices,
            expectedVersion: 1,
          });
          for (let at = 0; at < run.deviceIds.length; at += 1) {
            if (run.deviceIds.at(at) !== undefined) count += 1;
          }
        }
      };
      await Promise.all(Array.from({ length: GROUPS_AT_ONCE }, work));
      return count;
    },
  };
}

function pushTo(lists: Map<number, number[]>, tagId: number, offset: number): void {
  const list = lists.get(tagId);
  if (list === undefined) lists.set(tagId, [offset]);
  else list.push(offset);
}

const refuse = (): Promise<never> => Promise.reject(new Error('the database was asked'));
const nobodyElse: TagIndex = {
  resolve: refuse,
  recheck: refuse,
  count: refuse,
};

/** One set for each tag. Of ids: the tokens lie once in a hash. */
function plainSets(
  client: RedisClient,
  name: string,
  { isOfTokens }: { readonly isOfTokens: boolean },
): Layout {
  const memberOf = (ordinal: number): string => (isOfTokens ? tokenOf(ordinal) : String(ordinal));
  return {
    name,
    async fillDevices(devices) {
      if (isOfTokens) return;
      for (let start = 0; start < devices; start += BATCH) {
        const fields: string[] = [];
        for (let ordinal = start; ordinal < Math.min(devices, start + BATCH); ordinal += 1) {
          fields.push(String(ordinal), tokenOf(ordinal));
        }
        await client.hset('tokens', ...fields);
      }
    },
    async fillTags(_devices, subscribers) {
      for (const [tagId, ordinals] of subscribers) {
        let members: string[] = [];
        for (const ordinal of ordinals) {
          members.push(memberOf(ordinal));
          if (members.length < BATCH) continue;
          await client.sadd(`tag:${tagId}`, ...members);
          members = [];
        }
        if (members.length > 0) await client.sadd(`tag:${tagId}`, ...members);
      }
    },
    async resolve(_devices, audience) {
      const key = await combined(client, audience);
      let count = 0;
      let cursor = '0';
      do {
        const [next, members] = await client.sscan(key, cursor, 'COUNT', BATCH);
        cursor = next;
        const tokens =
          isOfTokens || members.length === 0 ? members : await client.hmget('tokens', ...members);
        count += tokens.length;
      } while (cursor !== '0');
      return count;
    },
  };
}

/**
 * A set of who matches; what combines sets is stored first, for members to be read piece by piece.
 */
async function combined(
  client: RedisClient,
  { anyTagIds, allTagIds, noneTagIds }: Audience,
): Promise<string> {
  const keysOf = (tagIds: readonly number[]): string[] => tagIds.map((tagId) => `tag:${tagId}`);
  const [first = ''] = keysOf(anyTagIds);
  if (anyTagIds.length + allTagIds.length + noneTagIds.length === 1) return first;
  await client.sunionstore('found', ...keysOf(anyTagIds));
  if (allTagIds.length > 0) await client.sinterstore('found', 'found', ...keysOf(allTagIds));
  if (noneTagIds.length > 0) await client.sdiffstore('found', 'found', ...keysOf(noneTagIds));
  return 'found';
}
