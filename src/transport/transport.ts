/**
 * A transport carries requests to one provider: connections, streams, time-outs, and retries of
 * refused requests. A sender defines the requests and the meaning of answers.
 */

import type { DeviceToken } from '../domain/device.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { TransportMeter } from './transport-meter.ts';

/** Called exactly once for each send, never from inside `send` itself. */
export type Settle = (position: number, outcome: Outcome) => void;

/** A message rendered once for all its devices. Only its provider's sender makes and reads it. */
export interface Rendered {
  /** Bytes of the body without the device's token, which count against the provider's limit. */
  readonly payloadBytes: number;
}

/** Our own framing, or `node:http2` through http2-wrapper. A process uses one of them. */
export const TRANSPORTS = ['http2', 'compat'] as const;

export type TransportName = (typeof TRANSPORTS)[number];

/**
 * The device's token goes to the end of the path (APNs), or between `bodyBefore` and `bodyAfter`
 * (FCM). With `hasOwnBody` each send brings its body, and the token is in the path (Web Push).
 */
export interface RequestTemplate extends Rendered {
  readonly tokenIn: 'path' | 'body';
  readonly pathBefore: string;
  readonly bodyBefore: Buffer;
  readonly bodyAfter: Buffer;
  readonly hasOwnBody?: boolean;
  /** Fields that most requests of a connection share, so the peer's table keeps them. */
  readonly lastingFields: Readonly<Record<string, string>>;
  /** Header fields of this message. In the peer's table they would drive out the lasting ones. */
  readonly messageFields: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  /** The `retry-after` field in milliseconds from now, or null. */
  readonly retryAfterMs: number | null;
  readonly body: string;
  readonly fields?: Readonly<Record<string, string>>;
}

export interface TransportLimits {
  /** @limit streams at once on a connection, or fewer if the provider says so → sends wait */
  readonly streamsMax: number;
  /** @limit answer to a request → `unknown`, tried again */
  readonly requestTimeoutMs: number;
  /** @limit connecting, to one address → the next address, then a pause */
  readonly connectTimeoutMs: number;
  /**
   * @limit connections of one pool; `PROVIDER_CONNECTIONS_MAX` says how many of all threads
   * together → sends wait
   */
  readonly connectionsMax: number;
  /** @limit a pool may double its connections, or after two round trips */
  readonly growEveryMs: number;
  /**
   * @limit a connection is not used, or less than a tenth of the time → closed, but for the last
   */
  readonly idleMsMax: number;
  /**
   * The addresses of its name may have changed.
   * @limit age of a connection, less up to a tenth by chance → replaced
   */
  readonly ageMsMax: number;
  /** @limit refusals of one send, tried again at once → a retry row */
  readonly refusalsMax: number;
  /** @limit PING after silence */
  readonly pingAfterSilenceMs: number;
  /** @limit answer to a PING → the connection is taken for dead */
  readonly pingTimeoutMs: number;
  /** @limit PINGs in a row → no more PINGs */
  readonly pingsInARowMax: number;
  /** @limit pause between attempts to connect, doubling, plus up to half by chance */
  readonly reconnectPauseMs: number;
  /** @limit that pause at most */
  readonly reconnectPauseMsMax: number;
  /** @limit wait for sends when closing → `unknown` */
  readonly drainTimeoutMs: number;
  /** @limit body of an answer that is kept → cut */
  readonly bodyBytesMax: number;
}

export interface TransportOptions {
  /** `https://host[:port]` */
  readonly origin: string;
  readonly ca: string | null;
  readonly authorization: string;
  readonly limits: TransportLimits;
  /** Whether it may connect to an address, for origins that anybody can set. Null: to all. */
  readonly admits: ((address: string) => boolean) | null;
  /** A `refused` send is repeated on another connection; the one that refused takes no more. */
  /** Header fields that `outcomeOf` reads, of an answer of 200 too. Absent: none. */
  readonly readFields?: readonly string[];
  readonly outcomeOf: (answer: Answer) => Outcome;
  /** Counts what it does. Absent: not counted. */
  readonly meter?: TransportMeter | undefined;
}

export interface Transport {
  /** Like the members of `Sender` with these names. */
  readonly capacity: number;
  whenReady(): Promise<void>;
  /** `token` is written as it is, so must fit its place. `body`: never changed again. */
  send(
    template: RequestTemplate,
    token: DeviceToken,
    position: number,
    settle: Settle,
    body?: Buffer,
  ): void;
  warm(connections: number): void;
  authorize(authorization: string): void;
  close(): Promise<void>;
}
