/** Compares a group in Redis with the database, device by device, for `tagcast index verify`. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '../../database/sql.ts';
import { BLOCK_DEVICES, GROUP_BLOCKS, GROUP_DEVICES } from '../../domain/device.ts';
import type { DeviceGroupKey, DeviceHistory } from '../../domain/device-group-change.ts';
import type { DeviceGroupContent } from '../groups/read-device-group.ts';
import { readDeviceGroup } from '../groups/read-device-group.ts';
import type { RedisClient } from './connect.ts';
import { decodeHistories } from './histories.ts';
import { blockKey, groupHashKey, HISTORIES_FIELD, VERSION_FIELD } from './keys.ts';
import { countIn, emptySet, offsetsIn, subtract, unite } from './offsets.ts';
import { decodeSlots } from './tokens.ts';

interface Comparison {
  readonly devices: number;
  /** The index does not answer for it: the database does, until the group is repaired. */
  readonly isStale: boolean;
  /** Differences, in sentences, of a group that claims to be current. */
  readonly differences: readonly string[];
}

/** A change may come between the two reads; then both are repeated. */
const TRIES = 5;
const PAUSE_MS = 50;

export async function compareGroup(
  sql: Sql,
  client: RedisClient,
  indexName: string,
  group: DeviceGroupKey,
): Promise<Comparison> {
  const hashKey = groupHashKey(indexName, group);
  for (let attempt = 1; ; attempt += 1) {
    const before = await versionOf(client, hashKey);
    const content = await readDeviceGroup(sql, group);
    const stored = await readStored(client, hashKey);
    const devices = content.offsets.length;
    // Nothing has changed meanwhile, so both parts belong to one moment.
    if (before === content.version && (await versionOf(client, hashKey)) === before) {
      return { devices, isStale: false, differences: differencesOf(content, stored) };
    }
    if (attempt === TRIES) return { devices, isStale: true, differences: [] };
    await sleep(PAUSE_MS);
  }
}

interface Stored {
  readonly tags: ReadonlyMap<string, Buffer>;
  readonly histories: ReadonlyMap<number, DeviceHistory>;
  readonly tokens: ReadonlyMap<number, string>;
}

const versionOf = async (client: RedisClient, hashKey: string): Promise<number> =>
  Number((await client.hget(hashKey, VERSION_FIELD)) ?? 0);

async function readStored(client: RedisClient, hashKey: string): Promise<Stored> {
  const blockKeys = Array.from({ length: GROUP_BLOCKS }, (_, block) => blockKey(hashKey, block));
  const [names, values, blocks] = await Promise.all([
    client.hkeys(hashKey),
    client.hvalsBuffer(hashKey),
    client.mgetBuffer(...blockKeys),
  ]);
  const fields = new Map(names.map((name, at) => [name, values[at] ?? Buffer.alloc(0)]));
  const histories = decodeHistories(fields.get(HISTORIES_FIELD) ?? Buffer.alloc(0));
  fields.delete(HISTORIES_FIELD);
  fields.delete(VERSION_FIELD);
  const tokens = new Map<number, string>();
  for (const [block, octets] of blocks.entries()) {
    if (octets === null) continue;
    for (const [slot, token] of decodeSlots(octets))
      tokens.set(block * BLOCK_DEVICES + slot, token);
  }
  return { tags: fields, histories, tokens };
}

function differencesOf(content: DeviceGroupContent, stored: Stored): readonly string[] {
  return [
    ...tokenDifferences(content, stored.tokens),
    ...tagDifferences(content, stored.tags),
    ...historyDifferences(content, stored.histories),
  ];
}

function tokenDifferences(
  { offsets, deviceIds }: DeviceGroupContent,
  stored: ReadonlyMap<number, string>,
): readonly string[] {
  const expected = new Map(offsets.map((offset, at) => [offset, deviceIds[at]]));
  const missing = [...expected.keys()].filter((offset) => !stored.has(offset));
  const surplus = [...stored.keys()].filter((offset) => !expected.has(offset));
  const other = [...stored].filter(
    ([offset, token]) => expected.has(offset) && expected.get(offset) !== token,
  );
  return [
    ...sentence('tokens are missing', missing),
    ...sentence('tokens belong to no device', surplus),
    ...sentence(
      'tokens differ',
      other.map(([offset]) => offset),
    ),
  ];
}

function tagDifferences(
  { tags }: DeviceGroupContent,
  stored: ReadonlyMap<string, Buffer>,
): readonly string[] {
  const expected = new Map(tags.map(([tagId, list]) => [String(tagId), list]));
  return [...new Set([...expected.keys(), ...stored.keys()])].flatMap((tagId) => {
    const lacking = minus(expected.get(tagId) ?? null, stored.get(tagId) ?? null);
    const surplus = minus(stored.get(tagId) ?? null, expected.get(tagId) ?? null);
    return [
      ...sentence(`subscriptions of tag ${tagId} are missing`, lacking),
      ...sentence(`subscriptions of tag ${tagId} are too many`, surplus),
    ];
  });
}

/** Offsets that the one value has and the other has not. */
function minus(one: Buffer | null, other: Buffer | null): readonly number[] {
  const left = emptySet();
  unite(left, one);
  const right = emptySet();
  unite(right, other);
  subtract(left, right);
  return countIn(left) === 0 ? [] : [...offsetsIn(left, 0, GROUP_DEVICES)];
}

function historyDifferences(
  { histories }: DeviceGroupContent,
  stored: ReadonlyMap<number, DeviceHistory>,
): readonly string[] {
  const expected = new Map(histories);
  const other = [...new Set([...expected.keys(), ...stored.keys()])].filter(
    (offset) => textOf(expected.get(offset)) !== textOf(stored.get(offset)),
  );
  return sentence('histories differ', other);
}

const textOf = (history: DeviceHistory | undefined): string =>
  history === undefined ? '' : `${history.refusals} ${history.environment}`;

/** Offsets named in a sentence, for an operator to look at; a group has 8,192. */
const OFFSETS_NAMED = 5;

function sentence(what: string, offsets: readonly number[]): readonly string[] {
  if (offsets.length === 0) return [];
  const named = offsets.slice(0, OFFSETS_NAMED).join(', ');
  const more = offsets.length > OFFSETS_NAMED ? ', …' : '';
  return [`${offsets.length} ${what} (offsets ${named}${more})`];
}
