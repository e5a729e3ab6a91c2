/**
 * A connection as a distant client sees it: everything written to it arrives a round trip later, in
 * order. The whole round trip is on this side, since a client cannot see in which direction the
 * time was lost. All octets under way need one timer, however many answers they hold.
 */

import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * Octets on the way at once, as many as a router's buffers take. Then the writer waits, as it would
 * for its window.
 * @limit octets on their way (`roundTripMs`), each connection → the writer waits
 */
const HELD_OCTETS_MAX = 16 * 1_024 * 1_024;
/**
 * The interval between arrivals. Octets that are due between two of them arrive with the second, as
 * after a busy router.
 */
const ARRIVALS_EVERY_MS = 4;

interface Held {
  /** Null: the end of what is written. */
  readonly octets: Buffer | null;
  readonly dueAtMs: number;
}

export class DistantSocket extends Duplex {
  readonly #socket: Socket;
  readonly #roundTripMs: number;
  readonly #held: Held[] = [];
  #heldOctets = 0;
  #timer: NodeJS.Timeout | null = null;
  /** A write that waits until there is room on the way. */
  #blocked: (() => void) | null = null;

  constructor(socket: Socket, roundTripMs: number) {
    super();
    this.#socket = socket;
    this.#roundTripMs = roundTripMs;
    socket.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // A copy: the writer may reuse its buffer as soon as this is done, which is long before the
    // octets are sent.
    this.#hold(Buffer.from(chunk));
    if (this.#heldOctets < HELD_OCTETS_MAX) done();
    else this.#blocked = done;
  }

  override _final(done: () => void): void {
    this.#hold(null);
    done();
  }

  /** Octets written before are on their way already and arrive; then the connection ends. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#releaseWriter();
    if (this.#held.length === 0) this.#socket.destroy();
    done(error);
  }

  #hold(octets: Buffer | null): void {
    const nowMs = performance.now();
    const dueAtMs = nextArrivalMs(nowMs + this.#roundTripMs);
    this.#held.push({ octets, dueAtMs });
    this.#heldOctets += octets?.length ?? 0;
    this.#timer ??= setTimeout(this.#deliver, dueAtMs - nowMs).unref();
  }

  readonly #deliver = (): void => {
    this.#timer = null;
    const nowMs = performance.now();
    const firstLeft = this.#held.findIndex(({ dueAtMs }) => dueAtMs > nowMs);
    const due = this.#held.splice(0, firstLeft === -1 ? this.#held.length : firstLeft);
    // One write to the system, and one TLS record, for octets that arrive together.
    this.#socket.cork();
    for (const { octets } of due) {
      if (octets === null) this.#socket.end();
      else if (this.#socket.writable) this.#socket.write(octets);
      this.#heldOctets -= octets?.length ?? 0;
    }
    this.#socket.uncork();
    if (this.#heldOctets < HELD_OCTETS_MAX) this.#releaseWriter();
    const [next] = this.#held;
    if (next !== undefined) {
      this.#timer = setTimeout(this.#deliver, next.dueAtMs - nowMs).unref();
    } else if (this.destroyed) {
      this.#socket.destroySoon();
    }
  };

  #releaseWriter(): void {
    const done = this.#blocked;
    this.#blocked = null;
    done?.();
  }
}

const nextArrivalMs = (atMs: number): number =>
  Math.ceil(atMs / ARRIVALS_EVERY_MS) * ARRIVALS_EVERY_MS;
