/**
 * What stands between sockets and the server: a front reads requests and writes answers, and knows
 * no route; the server decides about each request, and knows no socket.
 */

import type { RequestHead } from '../request-head.ts';

/** Writes one field of an answer's head. */
export type WriteField = (name: string, value: string) => void;

export interface Answer {
  readonly status: number;
  writeFields(write: WriteField): void;
  readonly body: string | Buffer;
  /** An answer to HEAD: it says how long the body is, and leaves it out (RFC 9110, 9.3.2). */
  readonly isHead: boolean;
  /** The connection ends with this answer. */
  readonly closes: boolean;
}

/** The front's side of a request. */
export interface Reply {
  /** Once for each request. After `Receiver.abort` nobody hears it. */
  send(answer: Answer): void;
}

/**
 * The server's side of a request whose body is wanted. Once it has answered, it is called no more.
 */
export interface Receiver {
  /** A piece of the body, to keep; the last one may be empty. */
  data(piece: Buffer, isLast: boolean): void;
  /** The caller went away. */
  abort(): void;
}

/**
 * Why there is no request to be had from what was sent. The connection ends with the answer to it.
 */
export interface Malformed {
  readonly status: number;
  readonly detail: string;
}

/** What a front asks of the server. */
export interface RequestHandler {
  /** A head has come. Null: it is answered already, and what body there is will be thrown away. */
  begin(head: RequestHead, reply: Reply): Receiver | null;
  /** What came is no request: answers that. */
  refuse(malformed: Malformed, reply: Reply): void;
}
