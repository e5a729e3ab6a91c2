/**
 * Whether this node may send: for so long nobody can take it for dead. The main thread prolongs it
 * with every beat that the database has answered; each worker looks at it, in memory that they
 * share, where it looks at its lease. So a node that hung stops by itself, before others may take
 * its parts over.
 */

import type { Clock } from '../../std/clock.ts';

/** Cells of the shared memory. */
const UNTIL_MS = 0;
const NODE_ID = 1;

export class Presence {
  /** For the workers. */
  readonly memory: SharedArrayBuffer;
  private readonly clock: Clock;
  private readonly cells: BigInt64Array;

  /** `memory`: that of the main thread's; without it this one is the main thread's. */
  constructor(clock: Clock, memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.clock = clock;
    this.memory = memory;
    this.cells = new BigInt64Array(memory);
  }

  /**
   * Under which claims are made; null: there is no other node, and none can take this one for dead.
   */
  get nodeId(): number | null {
    const id = Number(Atomics.load(this.cells, NODE_ID));
    return id === 0 ? null : id;
  }

  /**
   * Whether what was claimed under this id may be sent now. What a dead node had claimed stays
   * lost, also when the node is back under another id.
   */
  covers(nodeId: number | null): boolean {
    if (nodeId === null) return true;
    // In this order: whoever reads a time reads the id that it was written behind, or a later one.
    const untilMs = Atomics.load(this.cells, UNTIL_MS);
    return this.clock.monotonicMs() < untilMs && this.nodeId === nodeId;
  }

  /**
   * Main thread: the database knows this id, and nobody can take it for dead before this monotonic
   * time.
   */
  prolong(nodeId: number, untilMs: number): void {
    if (this.nodeId !== nodeId) {
      // No other thread may find the new id's time beside the old id.
      Atomics.store(this.cells, UNTIL_MS, 0n);
      Atomics.store(this.cells, NODE_ID, BigInt(nodeId));
    }
    Atomics.store(this.cells, UNTIL_MS, BigInt(Math.floor(untilMs)));
  }
}
