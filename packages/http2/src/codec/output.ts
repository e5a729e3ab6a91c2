/**
 * The outgoing frames. They are written one after the other into a pooled buffer. The socket gets
 * the whole buffer in one write: at the end of the turn, when the write before is finished, or when
 * the buffer is full. (Node would copy several writes at once together.) The number of octets at
 * the socket is known at any time.
 *
 * ```
 *   frames ──► [ buffer being filled ] ──flush──► [ at the socket: octetsInFlight ] ──written──► pool
 * ```
 */

import type { Writable } from 'node:stream';

/** Some hundred requests: one write, and four TLS records. */
const BUFFER_OCTETS = 65_536;
/**
 * A flush of up to this size is copied out of the buffer, so that a few octets at the socket do not
 * hold all of it.
 */
const COPIED_OCTETS_MAX = 4_096;
/**
 * With this much in its socket a connection is congested, and gets no further requests. A fast
 * connection has as much under way.
 */
const IN_FLIGHT_OCTETS_MAX = 4 * BUFFER_OCTETS;
/**
 * Answers to PING, SETTINGS and the like are still written then, up to this limit. A peer beyond it
 * asks and never reads.
 */
const IN_FLIGHT_OCTETS_AT_ALL = 16 * BUFFER_OCTETS;
/** Buffers kept for the next flush. */
const POOL_BUFFERS_MAX = 4;

export interface OutputEvents {
  /** The socket was congested and no longer is. */
  relieved(): void;
  /** The socket holds as many octets as it may. */
  overrun(): void;
}

export class Output {
  /** Frames are written here, at `offset`, after `reserve` has made room. */
  buffer: Buffer = Buffer.allocUnsafeSlow(BUFFER_OCTETS);
  offset = 0;
  /**
   * Raised by each flush. Frames that were written at its present value have not been handed to the
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

  /** The socket holds too many octets: requests and content should wait. */
  get isBehind(): boolean {
    return this.#octetsInFlight >= IN_FLIGHT_OCTETS_MAX;
  }

  /** Makes room for this many octets after `offset`, and plans a flush at the end of this turn. */
  reserve(octets: number): void {
    if (this.offset + octets > this.buffer.length) this.#turnOver(octets);
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    process.nextTick(this.#flushPlanned);
  }

  /** Writes whole frames that other code has made. */
  write(frames: Buffer): void {
    this.reserve(frames.length);
    this.offset += frames.copy(this.buffer, this.offset);
  }

  /**
   * Writes ahead of everything that is not flushed yet (RFC 9113, 6.7: an answer to PING has
   * priority).
   */
  writeAhead(frames: Buffer): void {
    if (!this.#isEnded) this.#give(frames, null);
  }

  flush(): void {
    this.#isFlushPlanned = false;
    const { buffer, offset } = this;
    // Frames that are left when the socket is gone count as never handed over: the fate of their
    // requests is known.
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

  /** Drops everything that is not flushed; for a connection that ends. */
  discard(): void {
    this.offset = 0;
  }

  /** Flushes, and accepts no more frames. */
  end(): void {
    this.flush();
    this.#isEnded = true;
    this.#socket.end();
  }

  /** While a write is under way, later frames wait for its end. */
  readonly #flushPlanned = (): void => {
    if (this.#octetsInFlight === 0) this.flush();
  };

  #turnOver(octets: number): void {
    this.flush();
    // After the end nothing is sent: the buffer is overwritten.
    this.offset = 0;
    if (octets > this.buffer.length) this.buffer = Buffer.allocUnsafeSlow(octets);
  }

  /** `reusable` returns to the pool when the socket is done with it. */
  #give(octets: Buffer, reusable: Buffer | null): void {
    if (this.#octetsInFlight + octets.length > IN_FLIGHT_OCTETS_AT_ALL) {
      this.#events.overrun();
      // The owner has ended the output: a socket accepts nothing after its end.
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
