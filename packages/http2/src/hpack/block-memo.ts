/**
 * Remembers a few small blocks that changed nothing in the table. A push provider answers with the
 * same handful of octets again and again, and comparing them is cheaper than decoding them.
 */

import type { FieldSection } from './field.ts';

/** Longer blocks hold text that differs each time: a literal id, a date. */
const BLOCK_OCTETS_MAX = 24;

/** A power of two. A connection has two or three common answers. */
const SLOTS = 8;

interface Slot {
  readonly block: Buffer;
  /** Octets of `block` in use. */
  readonly length: number;
  /** The state of the table in which the block has this meaning. */
  readonly epoch: number;
  readonly section: FieldSection;
}

export class BlockMemo {
  readonly #slots: (Slot | undefined)[] = new Array(SLOTS).fill(undefined);

  /** The section that these octets meant before, if the table is still the same. */
  find(bytes: Buffer, start: number, end: number, epoch: number): FieldSection | null {
    const length = end - start;
    if (length > BLOCK_OCTETS_MAX) return null;
    const slot = this.#slots[slotOf(bytes, start, end)];
    if (slot === undefined || slot.epoch !== epoch || slot.length !== length) return null;
    for (let index = 0; index < length; index += 1) {
      if (slot.block[index] !== bytes[start + index]) return null;
    }
    return slot.section;
  }

  /** Replaces the block that was in its slot. */
  keep(bytes: Buffer, start: number, end: number, epoch: number, section: FieldSection): void {
    const length = end - start;
    if (length > BLOCK_OCTETS_MAX) return;
    const place = slotOf(bytes, start, end);
    const block = this.#slots[place]?.block ?? Buffer.alloc(BLOCK_OCTETS_MAX);
    bytes.copy(block, 0, start, end);
    this.#slots[place] = { block, length, epoch, section };
  }

  clear(): void {
    this.#slots.fill(undefined);
  }
}

/** The ends of a block differ sooner than its middle. */
const slotOf = (bytes: Buffer, start: number, end: number): number =>
  ((bytes[start] ?? 0) * 5 + (bytes[end - 1] ?? 0) * 3 + (end - start)) & (SLOTS - 1);
