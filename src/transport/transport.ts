/**
 * A transport carries requests to one provider: persistent HTTP/2 connections, the count of their
 * streams, time-outs, and retries of refused requests. A sender defines the requests and the
 * meaning of answers; the transport moves them.
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

/**
 * The implementations that write and read frames: our own framing, or `node:http2` through
 * http2-wrapper. A process uses one of them.
 */
export const TRANSPORTS = ['http2', 'compat'] as const;

export type TransportName = (typeof TRANSPORTS)[number];

/**
 * A request without the device's token. The token goes between `pathBefore` and the end of the path
 * (APNs), or between `bodyBefore` and `bodyAfter` (FCM). With `hasOwnBody` each send brings its
 * whole body, and the token is in the path (Web Push).
 */
export interface RequestTemplate extends Rendered {
  readonly tokenIn: 'path' | 'body';
  readonly pathBefore: string;
  readonly bodyBefore: Buffer;
  readonly bodyAfter: Buffer;
  readonly hasOwnBody?: boolean;
  /**
   * Header fields, besides the pseudo-fields and `authorization`, that most requests of a
   * connection share: so the peer's table keeps them.
   */
  readonly lastingFields: Readonly<Record<string, string>>;
  /** Header fields of this message. In the peer's table they would drive out the lasting ones. */
  readonly messageFields: Readonly<Record<string, string>>;
}

/** The provider's answer. */
export interface Answer {
  readonly status: number;
  /** The `retry-after` field in milliseconds from now, or null. */
  readonly retryAfterMs: number | null;
  /** At most `bodyBytesMax` of it. */
  readonly body: string;
  /** The header fields that the provider reads (`readFields`), as far as they came. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Limits of a transport; each provider's `settings.ts` gives them with their reasons. */
export interface TransportLimits {
  /**
   * Streams open at the same time on a connection, even if the provider allows more.
   * @limit streams at once on a connection, or fewer if the provider says so → sends wait
   */
  readonly streamsMax: number;
  /**
   * An answer that takes longer is `unknown`.
   * @limit answer to a request → `unknown`, tried again
   */
  readonly requestTimeoutMs: number;
  /**
   * From the first packet to the provider's SETTINGS.
   * @limit connecting, to one address → the next address, then a pause
   */
  readonly connectTimeoutMs: number;
  /**
   * Connections of one pool, even if the demand is higher.
   * @limit connections of one pool; `PROVIDER_CONNECTIONS_MAX` says how many of all threads
   * together → sends wait
   */
  readonly connectionsMax: number;
  /**
   * How often a pool that is used up may double its connections.
   * @limit a pool may double its connections, or after two round trips
   */
  readonly growEveryMs: number;
  /**
   * A connection beyond the first is closed when it was not used for so long, or for longer was
   * used in less than a tenth of the time.
   * @limit a connection is not used, or less than a tenth of the time → closed, but for the last
   */
  readonly idleMsMax: number;
  /**
   * A connection this old is replaced: the addresses of its name may have changed.
   * @limit age of a connection, less up to a tenth by chance → replaced
   */
  readonly ageMsMax: number;
  /**
   * Times that one send is repeated because the provider refused to process it.
   * @limit refusals of one send, tried again at once → a retry row
   */
  readonly refusalsMax: number;
  /**
   * A connection that was silent for so long gets a PING.
   * @limit PING after silence
   */
  readonly pingAfterSilenceMs: number;
  /**
   * Without an answer to the PING for so long, it counts as dead.
   * @limit answer to a PING → the connection is taken for dead
   */
  readonly pingTimeoutMs: number;
  /**
   * PINGs without a request between them.
   * @limit PINGs in a row → no more PINGs
   */
  readonly pingsInARowMax: number;
  /**
   * Pause after the first failure to connect or get any answer; doubles with each further one.
   * @limit pause between attempts to connect, doubling, plus up to half by chance
   */
  readonly reconnectPauseMs: number;
  /** @limit that pause at most */
  readonly reconnectPauseMsMax: number;
  /**
   * How long `close` waits for sends under way.
   * @limit wait for sends when closing → `unknown`
   */
  readonly drainTimeoutMs: number;
  /**
   * Bytes kept of an answer's body.
   * @limit body of an answer that is kept → cut
   */
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
  /**
   * Judges an answer. A `refused` send is repeated on another connection; the connection that
   * refused takes no more requests.
   */
  /**
   * Names of the header fields that `outcomeOf` reads, of an answer of 200 too. Absent: none.
   */
  readonly readFields?: readonly string[];
  readonly outcomeOf: (answer: Answer) => Outcome;
  /** Counts what it does. Absent: not counted. */
  readonly meter?: TransportMeter | undefined;
}

export interface Transport {
  /** Like `Sender.capacity`. */
  readonly capacity: number;
  /** Like `Sender.whenReady`. */
  whenReady(): Promise<void>;
  /**
   * Like `Sender.send`. `token` is written as it is, so it must have the form that its place needs.
   * `body`: this send's own, for templates with `hasOwnBody`; it is never changed again.
   */
  send(
    template: RequestTemplate,
    token: DeviceToken,
    position: number,
    settle: Settle,
    body?: Buffer,
  ): void;
  /** Like `Sender.warm`. */
  warm(connections: number): void;
  /** Like `Sender.authorize`. */
  authorize(authorization: string): void;
  /** Like `Sender.close`. */
  close(): Promise<void>;
}
