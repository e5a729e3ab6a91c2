/** The streamed bodies being sent. Each ends when its caller would not be admitted any more. */

import type { BodySink, BodyStream } from '../../packages/http1/src/body-stream.ts';
import type { Exchange } from './exchange.ts';

interface OpenStream {
  readonly exchange: Pick<Exchange, 'mayGoOn'>;
  readonly sink: BodySink;
  /** The answer about its credential is awaited. */
  isAsking: boolean;
}

export class OpenStreams {
  readonly #open = new Set<OpenStream>();
  #isClosing = false;

  /** The same stream, watched from its beginning to its end. */
  watch(exchange: OpenStream['exchange'], stream: BodyStream): BodyStream {
    return (sink) => {
      const open = { exchange, sink, isAsking: false };
      this.#open.add(open);
      const leave = stream(sink);
      if (this.#isClosing) sink.end();
      return () => {
        this.#open.delete(open);
        leave();
      };
    };
  }

  /** Ends those whose credential was revoked since. The server calls this at intervals. */
  check(): void {
    for (const open of this.#open) if (!open.isAsking) void this.#check(open);
  }

  /** Ends all of them, and from now on each one as soon as it begins. */
  close(): void {
    this.#isClosing = true;
    for (const { sink } of this.#open) sink.end();
  }

  async #check(open: OpenStream): Promise<void> {
    open.isAsking = true;
    if (!(await open.exchange.mayGoOn())) open.sink.end();
    open.isAsking = false;
  }
}
