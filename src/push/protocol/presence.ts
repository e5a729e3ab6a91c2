/**
 * Whether this node may send: until this time no other node can call it dead. Each answered beat
 * prolongs it; workers read it in shared memory with each lease, so a node that hung stops by
 * itself.
 */

import type { Clock } from '../../std/clock.ts';

/** Cells of the shared memory. */
const UNTIL_MS = 0;
const NODE_ID = 1;

export class Presence {
  readonly memory: SharedArrayBuffer;
  private readonly clock: Clock;
  private readonly cells: BigInt64Array;

  /** `memory`: in a worker, the memory of the main thread's object. The main thread passes none. */
  constructor(clock: Clock, memory = new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.clock = clock;
    this.memory = memory;
    this.cells = new BigInt64Array(memory);
  }

  /** The id under which this node claims. Null: no other node exists. */
  get nodeId(): number | null {
    const id = Number(Atomics.load(this.cells, NODE_ID));
    return id === 0 ? null : id;
  }

  /** The claims of a dead node stay lost, also when the node is back under another id. */
  covers(nodeId: number | null): boolean {
    if (nodeId === null) return true;
    // In this order: the id is written before its time, so it is at least as new.
    const untilMs = Atomics.load(this.cells, UNTIL_MS);
    return this.clock.monotonicMs() < untilMs && this.nodeId === nodeId;
  }

  /** Main thread: the database knows this id; no node calls it dead before this monotonic time. */
  prolong(nodeId: number, untilMs: number): void {
    if (this.nodeId !== nodeId) {
      // No other thread may find the new id's time beside the old id.
      Atomics.store(this.cells, UNTIL_MS, 0n);
      Atomics.store(this.cells, NODE_ID, BigInt(nodeId));
    }
    Atomics.store(this.cells, UNTIL_MS, BigInt(Math.floor(untilMs)));
  }
}
