/** The second question of a group: the tokens of those who match, as of the same moment or a later one. */

import { BLOCK_DEVICES, blockOf } from '../../domain/device.ts';
import type { DeviceIds } from '../tag-index.ts';
import type { RedisClient } from './connect.ts';
import { blockKey, VERSION_FIELD, versionIn } from './keys.ts';
import { BlockTokens } from './tokens.ts';

/** Token blocks of one command: with tokens of 500 octets, a megabyte that Redis copies. */
const BLOCKS_PER_CALL = 16;

/**
 * Null: one of them is not there, or they may be older than `version`: a replica that lags has taken over since, and has the token that
 * a device had before. Later ones are as good: an ordinal is never given to another device.
 */
export async function readTokens(
  client: RedisClient,
  hashKey: string,
  offsets: Uint16Array,
  version: number,
): Promise<DeviceIds | null> {
  const blocks = blocksOf(offsets);
  if (blocks.length === 0) return [];
  const calls: Promise<(Buffer | null)[]>[] = [];
  for (let from = 0; from < blocks.length; from += BLOCKS_PER_CALL) {
    const some = blocks.slice(from, from + BLOCKS_PER_CALL);
    calls.push(client.mgetBuffer(...some.map(({ block }) => blockKey(hashKey, block))));
  }
  // Sent with them and behind them, on the connection of their slot: who answers it has answered them before, and goes on from there.
  const versionBehind = client.hgetBuffer(hashKey, VERSION_FIELD);
  const [octets, behind] = await Promise.all([Promise.all(calls), versionBehind]);
  if (behind === null || versionIn(behind) < version) return null;
  return tokensIn(octets.flat(), blocks, offsets);
}

interface Block {
  readonly block: number;
  /** Which of the offsets lie in it: from, up to but without to. */
  readonly from: number;
  readonly to: number;
}

function blocksOf(offsets: Uint16Array): readonly Block[] {
  const blocks: Block[] = [];
  let from = 0;
  while (from < offsets.length) {
    const block = blockOf(offsets[from] ?? 0);
    const end = (block + 1) * BLOCK_DEVICES;
    let to = from + 1;
    while (to < offsets.length && (offsets[to] ?? 0) < end) to += 1;
    blocks.push({ block, from, to });
    from = to;
  }
  return blocks;
}

function tokensIn(
  octets: readonly (Buffer | null)[],
  blocks: readonly Block[],
  offsets: Uint16Array,
): DeviceIds | null {
  const deviceIds = new BlockTokens(offsets.length);
  for (const [at, { from, to }] of blocks.entries()) {
    const block = octets[at] ?? null;
    if (block === null || !deviceIds.find(block, offsets, from, to)) return null;
  }
  return deviceIds;
}
