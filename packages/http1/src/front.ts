/**
 * The interface between fronts and the server. A front reads requests and writes answers, and knows
 * no route. The server decides about each request, and knows no socket.
 */

import type { BodyStream } from './body-stream.ts';
import type { RequestHead } from './request-head.ts';

/** Writes one field of an answer's head. */
export type WriteField = (name: string, value: string) => void;

export interface Answer {
  readonly status: number;
  writeFields(write: WriteField): void;
  readonly body: string | Buffer;
  /** In place of the body, which is empty then. The connection ends with it. */
  readonly stream?: BodyStream | undefined;
  /** An answer to HEAD: it says how long the body is, and leaves it out (RFC 9110, 9.3.2). */
  readonly isHead: boolean;
  /** The connection ends with this answer. */
  readonly closes: boolean;
}

/** The front's side of a request. */
export interface Reply {
  /** Called once for each request. After `Receiver.abort` it has no effect. */
  send(answer: Answer): void;
}

/**
 * The server's side of a request whose body is wanted. After its answer it is not called any more.
 */
export interface Receiver {
  /** A piece of the body, to keep; the last one may be empty. */
  data(piece: Buffer, isLast: boolean): void;
  /** The caller has left, or its input is malformed. */
  abort(): void;
}

/** The reason why the input is not a request. The connection ends with the answer to it. */
export interface Malformed {
  readonly status: number;
  readonly detail: string;
}

/** The server, as a front sees it. */
export interface RequestHandler {
  /** A head has arrived. Null: it is answered already, and its body will be discarded. */
  begin(head: RequestHead, reply: Reply): Receiver | null;
  /** The input is not a request: answers that. */
  refuse(malformed: Malformed, reply: Reply): void;
}

/** How many connections a listener has, and what it did for want of room. */
export interface CrowdReading {
  /** Open connections. */
  readonly size: number;
  /** Connections that were closed because there was no room, since the start. */
  readonly turnedAway: number;
  /** Connections that were closed because too many bytes were unread, since the start. */
  readonly cutOff: number;
  /** Bytes of answers that callers have not read yet. */
  readonly unsentBytes: number;
}

/** A front that listens, as the server uses it. */
export interface HttpListener {
  /** Rejects with the system's error when the address cannot be used. */
  listen(): Promise<void>;
  readonly port: number;
  readonly crowd: CrowdReading;
  /** Accepts no more connections. Open ones end with their next answer. */
  stopAccepting(): void;
  /**
   * Closes connections without a request under way, after a grace period for requests that are
   * still on the network.
   */
  releaseIdle(graceMs: number): Promise<void>;
  /**
   * Closes every connection. Waits until the answers of each are sent, but no longer than
   * `limitMs`.
   */
  close(limitMs: number): Promise<void>;
}
