/** Reads the tokens of a group's matching devices, as of the match or later. */

import { BLOCK_DEVICES, blockOf } from '../../domain/device.ts';
import type { DeviceRun } from '../tag-index.ts';
import { TOKEN_BYTES_MAX } from '../tag-index.ts';
import type { RedisClient } from './connect.ts';
import { blockKey, VERSION_FIELD, versionIn } from './keys.ts';
import { BlockTokens } from './tokens.ts';

/**
 * Token blocks of one command: with tokens of 500 octets, a megabyte that Redis copies.
 * @limit token blocks of one command to Redis → another command
 */
const BLOCKS_PER_CALL = 16;

/** The tokens of the first offsets, or of all. */
type Tokens = Pick<DeviceRun, 'deviceIds' | 'endOffset'>;

/**
 * Null: a token is missing, or tokens may be older than `version`, from a lagging replica that took
 * over. Later ones are as good: an ordinal is never given to another device.
 */
export async function readTokens(
  client: RedisClient,
  hashKey: string,
  offsets: Uint16Array,
  version: number,
): Promise<Tokens | null> {
  const blocks = blocksOf(offsets);
  const tokens = new BlockTokens(offsets.length);
  let bytes = 0;
  for (let at = 0; at < blocks.length; at += BLOCKS_PER_CALL) {
    if (bytes > TOKEN_BYTES_MAX) return { deviceIds: tokens, endOffset: endOf(offsets, tokens) };
    const some = blocks.slice(at, at + BLOCKS_PER_CALL);
    const [octets, behind] = await Promise.all([
      client.mgetBuffer(...some.map(({ block }) => blockKey(hashKey, block))),
      // Right after that command, on its connection: the same server answers for both.
      client.hgetBuffer(hashKey, VERSION_FIELD),
    ]);
    if (behind === null || versionIn(behind) < version) return null;
    for (const [place, { from, to }] of some.entries()) {
      const block = octets[place] ?? null;
      if (block === null || !tokens.find(block, offsets, from, to)) return null;
      bytes += block.length;
    }
  }
  return { deviceIds: tokens };
}

/** The end of the block of the last token that was found. */
const endOf = (offsets: Uint16Array, { length }: BlockTokens): number =>
  (blockOf(offsets[length - 1] ?? 0) + 1) * BLOCK_DEVICES;

interface Block {
  readonly block: number;
  /** Positions of its offsets: from, up to but without to. */
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
