/** Rebuilds a group in Redis from the database; a newer one is left as it is. */

import type { Sql } from '../../database/sql.ts';
import { BLOCK_DEVICES, blockOf } from '../../domain/device.ts';
import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import type { DeviceGroupContent } from '../groups/read-device-group.ts';
import { readDeviceGroup } from '../groups/read-device-group.ts';
import type { RedisClient } from './connect.ts';
import { encodeHistories } from './histories.ts';
import { groupHashKey, HISTORIES_FIELD } from './keys.ts';
import { valueOfList } from './offsets.ts';
import type { SlotToken } from './tokens.ts';
import { encodeBlock } from './tokens.ts';

interface LoadedGroup {
  readonly version: number;
  readonly devices: number;
}

/** `isForced`: a group of the same version is replaced too. */
export async function loadGroup(
  sql: Sql,
  client: RedisClient,
  indexName: string,
  group: DeviceGroupKey,
  options: { readonly isForced: boolean },
): Promise<LoadedGroup> {
  const content = await readDeviceGroup(sql, group);
  const version = await writeGroup(client, indexName, group, content, options);
  return { version, devices: content.offsets.length };
}

/** Writes the content of a group; answers the version that the group has afterwards. */
export const writeGroup = (
  client: RedisClient,
  indexName: string,
  group: DeviceGroupKey,
  content: DeviceGroupContent,
  { isForced }: { readonly isForced: boolean },
): Promise<number> =>
  client.loadGroup(groupHashKey(indexName, group), ...contentOf(content, isForced));

/** The arguments of the script (scripts.ts). */
const contentOf = (content: DeviceGroupContent, isForced: boolean): (string | Buffer)[] => [
  String(content.version),
  isForced ? '1' : '0',
  ...fieldsOf(content),
  ...blocksOf(content).flat(),
];

/** The number of fields, and each field with its value. */
function fieldsOf({ tags, histories }: DeviceGroupContent): readonly (string | Buffer)[] {
  const fields: (string | Buffer)[] = tags.flatMap(([tagId, list]) => [
    String(tagId),
    valueOfList(list),
  ]);
  if (histories.length > 0) fields.push(HISTORIES_FIELD, encodeHistories(histories));
  return [String(fields.length / 2), ...fields];
}

/** Every block that has devices: its number and its string. */
function blocksOf({
  offsets,
  deviceIds,
}: DeviceGroupContent): readonly (readonly [string, Buffer])[] {
  const slotsOf = new Map<number, SlotToken[]>();
  for (const [at, offset] of offsets.entries()) {
    const deviceId = deviceIds[at];
    if (deviceId === undefined) continue;
    const slot: SlotToken = [offset % BLOCK_DEVICES, deviceId];
    const slots = slotsOf.get(blockOf(offset));
    if (slots === undefined) slotsOf.set(blockOf(offset), [slot]);
    else slots.push(slot);
  }
  return [...slotsOf].map(([block, slots]) => [String(block), encodeBlock(slots)]);
}
