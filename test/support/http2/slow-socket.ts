/**
 * A socket without a network, for looking at one end of a connection: what is written to it is
 * taken at once or when the test lets it, and what it delivers is read in the same turn, so that
 * what the reader throws comes out of `deliver`.
 */

import { Duplex } from 'node:stream';

interface PendingWrite {
  readonly chunk: Buffer;
  readonly done: (error?: Error | null) => void;
}

export class SlowSocket extends Duplex {
  /** The octets of each write. */
  readonly writes: number[] = [];
  /** All that was handed over, taken or not. */
  readonly handed: Buffer[] = [];
  readonly #taken: Buffer[] = [];
  #isHeld = false;
  #pending: PendingWrite | null = null;

  /** Takes nothing from now on. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Takes one write, and nothing more. */
  releaseOne(): void {
    this.#isHeld = true;
    this.#take();
  }

  /** Takes all that there is. */
  release(): void {
    this.#isHeld = false;
    this.#take();
  }

  /** All that was taken. */
  taken(): Buffer {
    return Buffer.concat(this.#taken);
  }

  /** All that was taken since the last call. */
  takeAll(): Buffer {
    return Buffer.concat(this.#taken.splice(0));
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** The peer has sent this. */
  deliver(octets: Buffer): void {
    if (!this.destroyed) this.push(octets);
  }

  override write(chunk: Buffer, ...rest: unknown[]): boolean {
    this.handed.push(Buffer.from(chunk));
    const [encoding, done] = rest as [BufferEncoding, PendingWrite['done']];
    return super.write(chunk, encoding, done);
  }

  override _read(): void {
    // Delivered as it comes.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: PendingWrite['done']): void {
    this.writes.push(chunk.length);
    this.#pending = { chunk, done };
    if (!this.#isHeld) this.#take();
  }

  override _destroy(error: Error | null, done: PendingWrite['done']): void {
    const pending = this.#pending;
    this.#pending = null;
    if (pending !== null) process.nextTick(pending.done, new Error('cancelled'));
    done(error);
  }

  /** Copied as late as a network would: code that has changed the octets meanwhile is found out. */
  #take(): void {
    const pending = this.#pending;
    this.#pending = null;
    if (pending === null) return;
    this.#taken.push(Buffer.from(pending.chunk));
    pending.done();
  }
}
