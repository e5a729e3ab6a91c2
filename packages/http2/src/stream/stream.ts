/**
 * One stream of either side: its windows, the content it still has to send, and the content it has
 * received. Objects are used again by later streams, so that a request costs no garbage; only
 * `StreamTable` makes and ends them.
 *
 * The states of RFC 9113, 5.1, as they are kept here. "Sender" and "receiver" are of the request;
 * there is no push.
 *
 * ```
 *                     HEADERS                       END_STREAM by the sender
 *   idle (unused id) ─────────► open ────────────────────────────────► half-closed (local at the client)
 *                                │  pending content, or a request        │  the answer is awaited
 *                                │  not wholly received                  │
 *                                └───► closed: not in the table ◄────────┘
 *                 RST_STREAM of either side, END_STREAM by the receiver, the connection's end
 * ```
 */

import { INITIAL_WINDOW_OCTETS } from '../frame/settings.ts';
import { ReceiveWindow } from './window.ts';

const EMPTY = Buffer.alloc(0);

export class Stream {
  id = 0;
  /** Octets we may send; negative after the peer has lowered INITIAL_WINDOW_SIZE (6.9.2). */
  sendWindow = 0;
  readonly receiveWindow = new ReceiveWindow(INITIAL_WINDOW_OCTETS);
  /** The content still to be sent, followed by END_STREAM; null when all is sent. */
  pending: Buffer | null = null;
  /** The `content-length` field of the received message; -1: none. */
  contentLength = -1;
  /** Octets received, kept or not. */
  contentOctets = 0;
  /** The kept octets, followed by room for more. */
  #kept = EMPTY;
  #keptOctets = 0;

  open(id: number, sendWindow: number): void {
    this.id = id;
    this.sendWindow = sendWindow;
    this.receiveWindow.reset();
    this.contentLength = -1;
    this.contentOctets = 0;
    this.#keptOctets = 0;
  }

  /** Called at the stream's end: an object that waits for its next use keeps nothing alive. */
  release(): void {
    this.pending = null;
    this.#kept = EMPTY;
    this.#keptOctets = 0;
  }

  /** 8.1.1: the content is as long as `content-length` says, or there is none. */
  get isAsLongAsSaid(): boolean {
    return this.contentLength === -1 || this.contentLength === this.contentOctets;
  }

  /**
   * Whether this many more octets exceed that length. It is checked before the end, which may never
   * come.
   */
  wouldExceedSaid(octets: number): boolean {
    return this.contentLength !== -1 && this.contentOctets + octets > this.contentLength;
  }

  /**
   * Keeps a copy of `bytes[start, end)` up to `octetsMax` in all; false when something was left
   * out.
   */
  keep(bytes: Buffer, start: number, end: number, octetsMax: number): boolean {
    this.contentOctets += end - start;
    const room = octetsMax - this.#keptOctets;
    const kept = Math.min(end - start, room);
    if (kept > 0) {
      this.#makeRoom(this.#keptOctets + kept, octetsMax);
      bytes.copy(this.#kept, this.#keptOctets, start, start + kept);
      this.#keptOctets += kept;
    }
    return kept === end - start;
  }

  /** All that was kept. */
  content(): Buffer {
    return this.#kept.subarray(0, this.#keptOctets);
  }

  /**
   * Doubles the room, so that content in many pieces is moved a few times and not with each piece.
   */
  #makeRoom(octets: number, octetsMax: number): void {
    if (octets <= this.#kept.length) return;
    const wanted = Math.max(octets, Math.min(2 * this.#kept.length, octetsMax));
    const larger = Buffer.allocUnsafe(wanted);
    this.#kept.copy(larger, 0, 0, this.#keptOctets);
    this.#kept = larger;
  }
}
