/**
 * Two ends of a connection without a network, so that a conversation is the same each time.
 * `duplexPair` of node hands over the very octets that were written, which a socket never does, and
 * does not report that an end was destroyed.
 */

import { Duplex } from 'node:stream';

class SocketEnd extends Duplex {
  other: SocketEnd = this;
  #written: (() => void) | null = null;
  #hasEnded = false;

  /** Takes the other end's octets; `written` is called when there is room for more. */
  hear(octets: Buffer, written: () => void): void {
    this.#written = written;
    this.push(octets);
  }

  /** The other end says no more. */
  hearEnd(): void {
    if (this.#hasEnded || this.destroyed) return;
    this.#hasEnded = true;
    this.push(null);
  }

  override _read(): void {
    const written = this.#written;
    this.#written = null;
    written?.();
  }

  override _write(chunk: Buffer, _: unknown, written: (error?: Error) => void): void {
    if (this.other.destroyed) written(new Error('EPIPE'));
    else this.other.hear(Buffer.from(chunk), written);
  }

  override _final(done: () => void): void {
    this.other.hearEnd();
    done();
  }

  /** With an error the connection is reset, and what is under way is lost. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    done(error);
    if (error === null) setImmediate(() => this.other.hearEnd());
    else this.other.destroy(error);
  }
}

export function socketPair(): readonly [Duplex, Duplex] {
  const [one, other] = [new SocketEnd(), new SocketEnd()];
  one.other = other;
  other.other = one;
  return [one, other];
}
