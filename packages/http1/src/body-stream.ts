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
