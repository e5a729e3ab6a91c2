/**
 * The book-keeping of one chunk: a block is done, and may be reported, when all its devices have an
 * ending. So blocks are sent again after a crash, but the counts stay right.
 */

import { blockOf, GROUP_BLOCKS } from '../../../domain/device.ts';
import type { DeviceObservation, PlacesProgress, Reached } from '../../../domain/progress.ts';
import type { Ending } from '../send/ending.ts';
import { mayHaveArrived, SKIPPED } from '../send/ending.ts';
import type { Places } from './places.ts';
import { Reach } from './reach.ts';
import { Tally } from './tally.ts';

interface FinishedBlocks {
  readonly blocks: bigint;
  readonly tally: Tally;
  /** Null: none of its devices. */
  readonly reached: Reached | null;
  /** Those of its devices that were not sent to, since the job was cancelled. Null: none. */
  readonly rest: Reached | null;
  /** Null: no cap concerns the push. */
  readonly places: PlacesProgress | null;
}

export class Blocks {
  /** Blocks from this one on are not known here. */
  private readonly blocks: number;
  private readonly offsets: Uint16Array;
  private readonly firstOrdinal: number;
  private readonly done: bigint;
  /** At most once: blocks that may have been sent in part before. They end without being sent. */
  private readonly inDoubt: bigint;
  /** 1: nothing is sent to the block's devices, because the block is done or in doubt. */
  private readonly isClosed = new Uint8Array(GROUP_BLOCKS);
  /** Devices of each block that have no ending yet. */
  private readonly open = new Uint8Array(GROUP_BLOCKS);
  /** Indexed by block. Undefined: none of its devices was sent to or has an ending. */
  private readonly tallies: (Tally | undefined)[] = new Array(GROUP_BLOCKS).fill(undefined);
  /** Blocks in which every send failed: reported once a device shows that the provider works. */
  private readonly doubtful = new Set<number>();
  /** Devices that may have the message. */
  private readonly reach = new Reach();
  /** Devices that are not sent to, since the job was cancelled. Null: it was not. */
  private rest: Reach | null = null;
  private readonly isGone: ((position: number) => boolean) | undefined;
  private readonly places: Places | null;
  private readonly isDoubted: boolean;
  private finished: { blocks: bigint; tally: Tally };
  private unfinished: number;
  private cursor = 0;

  /**
   * `offsets`: of all devices, in order. `done`: in the ledger. `inDoubt`: not to be sent any more.
   * `blocks`: how many `offsets` covers, from the first on. `isDoubted`: an earlier holder may have
   * sent to any device of blocks that are not done. `isGone`: which of the devices, by position,
   * exist no more: they are skipped. Absent: none. `places`: null: no cap concerns the push.
   */
  constructor(
    offsets: Uint16Array,
    firstOrdinal: number,
    done: bigint,
    inDoubt = 0n,
    blocks: number = GROUP_BLOCKS,
    isDoubted = false,
    isGone?: (position: number) => boolean,
    places: Places | null = null,
  ) {
    this.isGone = isGone;
    this.places = places;
    this.isDoubted = isDoubted;
    this.blocks = blocks;
    this.offsets = offsets;
    this.firstOrdinal = firstOrdinal;
    this.done = BigInt.asUintN(GROUP_BLOCKS, done);
    this.inDoubt = BigInt.asUintN(GROUP_BLOCKS, inDoubt) & ~this.done;
    const closed = this.done | this.inDoubt;
    for (let block = 0; closed !== 0n && block < GROUP_BLOCKS; block += 1) {
      this.isClosed[block] = Number((closed >> BigInt(block)) & 1n);
    }
    for (const [position, offset] of offsets.entries()) {
      this.open[blockOf(offset)] = this.openIn(blockOf(offset)) + 1;
      if (isDoubted && isGone?.(position) !== true) this.reach.add(offset);
    }
    this.unfinished = this.devicesNotDone();
    this.finished = { blocks: this.emptyBlocks(), tally: new Tally() };
    this.skipClosed();
  }

  get size(): number {
    return this.offsets.length;
  }

  /** Devices of the known blocks that are not finished. */
  get openDevices(): number {
    return this.unfinished;
  }

  /** Position of the next device to send to. Null: none is left. */
  get next(): number | null {
    return this.cursor < this.offsets.length ? this.cursor : null;
  }

  /** Whether a stop before the next device leaves no block half sent. */
  get isAtBoundary(): boolean {
    if (this.next === null) return true;
    const tally = this.tallies[this.blockAt(this.cursor)];
    return tally === undefined || tally.isOfGone;
  }

  get hasFinished(): boolean {
    return this.finished.blocks !== 0n;
  }

  get hasDoubtful(): boolean {
    return this.doubtful.size > 0;
  }

  /** Endings of begun blocks, without those that may count as unsent. */
  get begun(): Tally {
    const sum = new Tally();
    for (const tally of this.tallies) {
      if (tally !== undefined && !tally.mayCountAsUnsent) sum.merge(tally);
    }
    return sum;
  }

  /** A mask of `count` blocks from the next one on: no others are begun before the next report. */
  ahead(count: number): bigint {
    if (this.next === null) return 0n;
    const window = ((1n << BigInt(count)) - 1n) << BigInt(this.blockAt(this.cursor));
    return BigInt.asUintN(GROUP_BLOCKS, window) & ~this.done & ~this.inDoubt;
  }

  /** The blocks of a mask that are not known here. */
  unknownOf(mask: bigint): bigint {
    return this.blocks === GROUP_BLOCKS ? 0n : (mask >> BigInt(this.blocks)) << BigInt(this.blocks);
  }

  /** Whether the block of the next device is in a mask. */
  isNextIn(blocks: bigint): boolean {
    return this.next === null || ((blocks >> BigInt(this.blockAt(this.cursor))) & 1n) === 1n;
  }

  /** Gives this ending to the devices of the blocks in doubt, unsent. */
  settleInDoubt(ending: Ending): void {
    if (this.inDoubt === 0n) return;
    for (let position = 0; position < this.offsets.length; position += 1) {
      if (((this.inDoubt >> BigInt(this.blockAt(position))) & 1n) === 0n) continue;
      this.settle(position, this.isGone?.(position) === true ? SKIPPED : ending);
    }
  }

  ordinalAt(position: number): number {
    return this.firstOrdinal + this.offsetAt(position);
  }

  /** Notes that the next device was handed to the provider at this time (epoch milliseconds). */
  advance(atMs: number): void {
    this.tallyAt(this.cursor).sent(atMs);
    this.cursor += 1;
    this.skipClosed();
  }

  /** Notes the ending of a device, and an observation of it. */
  settle(position: number, ending: Ending, observation: DeviceObservation | null = null): void {
    const block = this.blockAt(position);
    const ordinal = this.ordinalAt(position);
    const left = this.openIn(block) - 1;
    if (left < 0) throw new Error(`device ${ordinal} ended twice`);
    this.open[block] = left;
    const tally = this.tallyAt(position);
    if (this.isGone?.(position) === true) tally.skip();
    else tally.add(ordinal, ending);
    if (mayHaveArrived(ending)) this.reach.add(this.offsetAt(position));
    // A device in doubt may have it from the send before.
    else if (ending.kind !== 'retry' && !this.isDoubted) {
      this.places?.giveBack(this.offsetAt(position));
    }
    if (ending.kind === 'cancelled') {
      this.rest ??= new Reach();
      this.rest.add(this.offsetAt(position));
    }
    if (observation !== null) tally.observations.push(observation);
    if (this.hasDoubtful && !tally.mayCountAsUnsent) this.keepDoubtful();
    if (left > 0) return;
    if (tally.mayCountAsUnsent && !tally.isOfGone) this.doubtful.add(block);
    else this.finish(block);
  }

  /** Gives this ending to all devices not sent to yet. */
  settleRest(ending: Ending): void {
    for (let position = this.next; position !== null; position = this.next) {
      this.cursor += 1;
      this.skipClosed();
      this.settle(position, ending);
    }
    this.keepDoubtful();
  }

  /** Finishes the blocks in which the provider failed for every device, with their retries. */
  keepDoubtful(): void {
    for (const block of this.doubtful) this.finish(block);
    this.doubtful.clear();
  }

  /**
   * Prepares to give the chunk back, when every send has its ending. A half sent block is finished,
   * its unsent devices as retries: undone, its other devices would get the push twice.
   */
  giveBack(unsent: Ending): void {
    if (!this.isAtBoundary) {
      const block = this.blockAt(this.cursor);
      if (!this.tallyAt(this.cursor).mayCountAsUnsent) {
        while (this.next !== null && this.blockAt(this.cursor) === block) {
          const position = this.cursor;
          this.cursor += 1;
          this.settle(position, unsent);
        }
      }
    }
    this.doubtful.clear();
  }

  /** The blocks finished since the last call. Null: none. */
  take(): FinishedBlocks | null {
    if (this.finished.blocks === 0n) return null;
    const taken = this.finished;
    this.finished = { blocks: 0n, tally: new Tally() };
    return {
      ...taken,
      blocks: BigInt.asIntN(GROUP_BLOCKS, taken.blocks),
      reached: this.reach.of(taken.blocks),
      rest: this.rest?.of(taken.blocks) ?? null,
      places: this.places?.of(taken.blocks) ?? null,
    };
  }

  private finish(block: number): void {
    const tally = this.tallies[block];
    if (tally === undefined) return;
    this.finished.blocks |= 1n << BigInt(block);
    this.unfinished -= tally.counts.total;
    this.finished.tally.merge(tally);
    this.tallies[block] = undefined;
  }

  private devicesNotDone(): number {
    let devices = 0;
    for (const [block, count] of this.open.entries()) {
      if (((this.done >> BigInt(block)) & 1n) === 0n) devices += count;
    }
    return devices;
  }

  private emptyBlocks(): bigint {
    let empty = 0n;
    for (const [block, devices] of this.open.entries()) {
      if (devices === 0 && block < this.blocks) empty |= 1n << BigInt(block);
    }
    return empty & ~this.done;
  }

  private skipClosed(): void {
    while (this.cursor < this.offsets.length) {
      const position = this.cursor;
      const isClosed = this.isClosed[this.blockAt(position)] === 1;
      if (!isClosed && this.isGone?.(position) !== true) return;
      this.cursor += 1;
      if (!isClosed) this.settle(position, SKIPPED);
    }
  }

  private tallyAt(position: number): Tally {
    const block = this.blockAt(position);
    const tally = this.tallies[block] ?? new Tally();
    this.tallies[block] = tally;
    return tally;
  }

  private offsetAt(position: number): number {
    const offset = this.offsets[position];
    if (offset === undefined) throw new RangeError(`no device at position ${position}`);
    return offset;
  }

  private blockAt(position: number): number {
    return blockOf(this.offsetAt(position));
  }

  private openIn(block: number): number {
    return this.open[block] ?? 0;
  }
}
