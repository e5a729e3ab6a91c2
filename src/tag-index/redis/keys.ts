/**
 * The keys of a group. All carry one hash tag, so that a group lies in one slot of a cluster and
 * its keys can be read and changed together:
 *
 *     tagcast:<index>:{<app>.<platform>.<group>}            hash: v = version, n = histories, <tag id> = offsets
 *     tagcast:<index>:{<app>.<platform>.<group>}:<block>    string: the tokens of 128 devices
 */

import type { DeviceGroupKey } from '../../domain/device-group-change.ts';
import { deviceGroupKeyOf } from '../../domain/device-group-change.ts';

/** Prefix of every key of this engine. */
export const PREFIX = 'tagcast:';

/** Fields of a group's hash beside its tags. */
export const VERSION_FIELD = 'v';
export const HISTORIES_FIELD = 'n';

/** The group's hash. `indexName` separates databases that share a Redis. */
export const groupHashKey = (indexName: string, group: DeviceGroupKey): string =>
  `${PREFIX}${indexName}:{${deviceGroupKeyOf(group)}}`;

export const versionIn = (field: Buffer): number => Number(field.toString('latin1'));

/** The tokens of a block of the group with this hash key. */
export const blockKey = (hashKey: string, block: number): string => `${hashKey}:${block}`;
