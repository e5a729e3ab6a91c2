/**
 * What goes out: frames are written one behind the other into a pooled buffer, and the socket gets
 * the whole buffer in one write: at the end of the turn, or when the write before is through, or
 * when the buffer is full. (Several writes at once would be copied together by node.) How far the
 * socket is behind is known at any time.
 *
 * ```
 *   frames ──► [ buffer being filled ] ──flush──► [ at the socket: octetsInFlight ] ──written──► pool
 * ```
 */

import type { Writable } from 'node:stream';

/** Some hundred requests: one write, and four TLS records. */
const BUFFER_OCTETS = 65_536;
/**
 * Up to this is copied out of the buffer, so that a few octets at the socket do not hold all of it.
 */
const COPIED_OCTETS_MAX = 4_096;
/**
 * With so much at the socket it is behind: no further requests. As much as a fast connection has
 * under way.
 */
const IN_FLIGHT_OCTETS_MAX = 4 * BUFFER_OCTETS;
/**
 * Answers to PING, SETTINGS and the like are still written then, up to here: beyond is a peer that
 * asks and never reads.
 */
const IN_FLIGHT_OCTETS_AT_ALL = 16 * BUFFER_OCTETS;
/** Buffers kept for the next flush. */
const POOL_BUFFERS_MAX = 4;

export interface OutputEvents {
  /** The socket was behind and no longer is. */
  relieved(): void;
  /** The socket has been given all that it may hold. */
  overrun(): void;
}

export class Output {
  /** Frames are written here, at `offset`, after `reserve` has made room. */
  buffer: Buffer = Buffer.allocUnsafeSlow(BUFFER_OCTETS);
  offset = 0;
  /**
   * Raised by each flush: what was written while it had its present value was not handed to the
   * socket.
   */
  flushes = 0;
  readonly #socket: Writable;
  readonly #events: OutputEvents;
  readonly #pool: Buffer[] = [];
  #octetsInFlight = 0;
  #isFlushPlanned = false;
  #isEnded = false;

  constructor(socket: Writable, events: OutputEvents) {
    this.#socket = socket;
    this.#events = events;
  }

  /** The socket has not taken what it was given: requests and content should wait. */
  get isBehind(): boolean {
    return this.#octetsInFlight >= IN_FLIGHT_OCTETS_MAX;
  }

  /**
   * Makes room for so many octets behind `offset`, and sees to it that they are sent at the end of
   * this turn.
   */
  reserve(octets: number): void {
    if (this.offset + octets > this.buffer.length) this.#turnOver(octets);
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    process.nextTick(this.#flushPlanned);
  }

  /** Whole frames that other code has made. */
  write(frames: Buffer): void {
    this.reserve(frames.length);
    this.offset += frames.copy(this.buffer, this.offset);
  }

  /** Ahead of all that was not flushed yet (RFC 9113, 6.7: an answer to PING has priority). */
  writeAhead(frames: Buffer): void {
    if (!this.#isEnded) this.#give(frames, null);
  }

  flush(): void {
    this.#isFlushPlanned = false;
    const { buffer, offset } = this;
    // What is left when the socket is gone counts as never handed over: the fate of those requests
    // is known.
    if (offset === 0 || this.#isEnded || this.#socket.destroyed) return;
    this.flushes += 1;
    this.offset = 0;
    if (offset <= COPIED_OCTETS_MAX) {
      this.#give(Buffer.from(buffer.subarray(0, offset)), null);
      return;
    }
    this.buffer = this.#pool.pop() ?? Buffer.allocUnsafeSlow(BUFFER_OCTETS);
    this.#give(buffer.subarray(0, offset), buffer.length === BUFFER_OCTETS ? buffer : null);
  }

  /** Drops what was not flushed; for a connection that ends. */
  discard(): void {
    this.offset = 0;
  }

  /** Flushes, and takes no more. */
  end(): void {
    this.flush();
    this.#isEnded = true;
    this.#socket.end();
  }

  /** While a write is under way, what comes after waits for its end. */
  readonly #flushPlanned = (): void => {
    if (this.#octetsInFlight === 0) this.flush();
  };

  #turnOver(octets: number): void {
    this.flush();
    // After the end nobody sees what is written; it goes over itself.
    this.offset = 0;
    if (octets > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow(octets);
  }

  /** `reusable` returns to the pool when the socket is done with it. */
  #give(octets: Buffer, reusable: Buffer | null): void {
    if (this.#octetsInFlight + octets.length > IN_FLIGHT_OCTETS_AT_ALL) {
      this.#events.overrun();
      // The owner has ended it: a socket takes nothing behind its end.
      if (this.#isEnded) return;
    }
    this.#octetsInFlight += octets.length;
    this.#socket.write(octets, () => {
      const wasBehind = this.isBehind;
      this.#octetsInFlight -= octets.length;
      if (reusable !== null && this.#pool.length < POOL_BUFFERS_MAX) this.#pool.push(reusable);
      if (this.#octetsInFlight === 0) this.flush();
      if (wasBehind && !this.isBehind) this.#events.relieved();
    });
  }
}
