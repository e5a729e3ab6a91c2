/**
 * Brings committed changes to Redis, for each group in the order of its versions. A change waits a
 * little for its predecessor; a group that misses one is repaired.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { BLOCK_DEVICES, blockOf } from '../../domain/device.ts';
import type {
  DeviceGroupChange,
  DeviceGroupKey,
  RaisedDeviceGroup,
  TagOffsets,
} from '../../domain/device-group-change.ts';
import type { Clock } from '../../std/clock.ts';
import { sortNumbers } from '../../std/sort-numbers.ts';
import type { IndexFeed } from '../tag-index.ts';
import type { RedisClient } from './connect.ts';
import { encodeHistories } from './histories.ts';
import type { NameOfIndex } from './index-name.ts';
import { groupHashKey } from './keys.ts';
import { encodeList } from './offsets.ts';
import type { RedisBreaker } from './redis-breaker.ts';
import type { SlotToken } from './tokens.ts';
import { encodeSlots } from './tokens.ts';

/**
 * A predecessor was committed before: it arrives within milliseconds or not at all.
 * @limit a change on its way to Redis waits for the one before it → the group is repaired
 */
const PREDECESSOR_MS_MAX = 100;
const PREDECESSOR_POLL_MS = 4;
/** On their way at a time, from several nodes' lanes: a group that lacks more has lost one. */
const PREDECESSORS_MAX = 16;

interface RedisFeedOptions {
  readonly client: RedisClient;
  readonly name: NameOfIndex;
  readonly breaker: RedisBreaker;
  readonly clock: Clock;
  /** Called with groups that lack a change. */
  readonly onMissed: (groups: readonly DeviceGroupKey[]) => void;
  /** The index has later versions: the groups were repaired, or the database went back. */
  readonly onAhead: (indexName: string, seen: readonly RaisedDeviceGroup[]) => Promise<void>;
}

export class RedisFeed implements IndexFeed {
  readonly #options: RedisFeedOptions;

  constructor(options: RedisFeedOptions) {
    this.#options = options;
  }

  async apply(changes: readonly DeviceGroupChange[]): Promise<void> {
    if (changes.length === 0) return;
    const { breaker, name, onMissed, onAhead } = this.#options;
    const indexName = name.current;
    const versions = await breaker.run(() =>
      Promise.all(changes.map((change) => this.#applyInTurn(indexName, change))),
    );
    const missed: DeviceGroupChange[] = [];
    const ahead: RaisedDeviceGroup[] = [];
    for (const [at, change] of changes.entries()) {
      const version = versions?.[at] ?? 0;
      if (version < change.version) missed.push(change);
      else if (version > change.version) ahead.push({ ...change, version });
    }
    if (missed.length > 0) onMissed(missed);
    if (ahead.length > 0) await onAhead(indexName, ahead);
  }

  async forget(groups: readonly DeviceGroupKey[]): Promise<void> {
    const { client, breaker, name } = this.#options;
    await breaker.run(() =>
      Promise.all(groups.map((group) => client.unlink(groupHashKey(name.current, group)))),
    );
  }

  /** Answers the group's version then: one lower than the change's means that one is missing. */
  async #applyInTurn(indexName: string, change: DeviceGroupChange): Promise<number> {
    const { client, clock } = this.#options;
    const hashKey = groupHashKey(indexName, change);
    const edits = editsOf(change);
    const untilMs = clock.monotonicMs() + PREDECESSOR_MS_MAX;
    for (;;) {
      const version = await client.applyChange(hashKey, ...edits);
      const isLost = change.version - version > PREDECESSORS_MAX;
      if (version >= change.version || isLost || clock.monotonicMs() >= untilMs) return version;
      await sleep(PREDECESSOR_POLL_MS);
    }
  }
}

/** The arguments of the script (scripts.ts). */
export function editsOf(change: DeviceGroupChange): readonly (string | Buffer)[] {
  const tagIds = new Set([...change.added.keys(), ...change.removed.keys()]);
  const edits: (string | Buffer)[] = [String(change.version), String(tagIds.size)];
  for (const tagId of tagIds) {
    edits.push(String(tagId), sortedList(change.added, tagId), sortedList(change.removed, tagId));
  }
  const blocks = byBlock(change.tokens);
  edits.push(String(blocks.size));
  for (const [block, slots] of blocks) edits.push(String(block), encodeSlots(slots));
  edits.push(historyEdits(change));
  return edits;
}

const NONE = Buffer.alloc(0);

function sortedList(offsets: TagOffsets, tagId: number): Buffer {
  const list = offsets.get(tagId);
  if (list === undefined) return NONE;
  return encodeList(sortNumbers([...new Set(list)]));
}

function byBlock(tokens: DeviceGroupChange['tokens']): ReadonlyMap<number, readonly SlotToken[]> {
  const blocks = new Map<number, SlotToken[]>();
  for (const [offset, deviceId] of [...tokens].sort(([a], [b]) => a - b)) {
    const block = blockOf(offset);
    const slots = blocks.get(block) ?? [];
    slots.push([offset % BLOCK_DEVICES, deviceId]);
    blocks.set(block, slots);
  }
  return blocks;
}

/** An erased device leaves no history. */
function historyEdits({ tokens, histories }: DeviceGroupChange): Buffer {
  const edits = new Map(histories);
  for (const [offset, deviceId] of tokens) {
    if (deviceId === null) edits.set(offset, { refusals: 0, environment: null });
  }
  return edits.size === 0 ? NONE : encodeHistories([...edits].sort(([a], [b]) => a - b));
}
