/** Bodies that are made while they are sent. */

/** Takes the pieces of a body. After the end, nothing has an effect. */
export interface BodySink {
  /** A caller that does not read is disconnected. */
  write(piece: string): void;
  /** The body is complete. */
  end(): void;
}

/**
 * Called when the head of the answer is out. Returns a function that is called once when the stream
 * has no taker left: the body is complete, or the caller has gone.
 */
export type BodyStream = (sink: BodySink) => () => void;

/** A front's side of a stream: it begins and ends once. How pieces are written is the front's. */
export abstract class StreamSink implements BodySink {
  #leave: (() => void) | null = null;
  #isOver = false;

  abstract write(piece: string): void;
  abstract end(): void;

  /** Nothing more is written. */
  get isOver(): boolean {
    return this.#isOver;
  }

  begin(stream: BodyStream): void {
    const leave = stream(this);
    // It may be complete already.
    if (this.#isOver) leave();
    else this.#leave = leave;
  }

  /** Ends the stream. A second call changes nothing. */
  close(): void {
    this.#isOver = true;
    this.#leave?.();
    this.#leave = null;
  }
}
