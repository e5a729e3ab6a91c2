/**
 * What carries requests to one provider: persistent HTTP/2 connections, the count of their streams,
 * time-outs and retries of what was refused. A sender says what a request is and what an answer
 * means; a transport moves them.
 */

import type { DeviceToken } from '../domain/device.ts';
import type { Outcome } from '../domain/outcome.ts';

/** Called exactly once for each send, never from inside `send` itself. */
export type Settle = (position: number, outcome: Outcome) => void;

/**
 * A message rendered once for all its devices; made and understood by one provider's sender only.
 */
export interface Rendered {
  /** Bytes of the body without the device's token: what is held against the provider's limit. */
  readonly payloadBytes: number;
}

/**
 * What writes and reads the frames: our own framing, or `node:http2` through http2-wrapper. One for
 * a whole process.
 */
export const TRANSPORTS = ['http2', 'compat'] as const;

export type TransportName = (typeof TRANSPORTS)[number];

/**
 * A request of which all is known but the device's token: it stands between `pathBefore` and the
 * end of the path (APNs), or between `bodyBefore` and `bodyAfter` (FCM). Where `hasOwnBody` says so
 * all of the body comes with each send, and the token is in the path (Web Push).
 */
export interface RequestTemplate extends Rendered {
  readonly tokenIn: 'path' | 'body';
  readonly pathBefore: string;
  readonly bodyBefore: Buffer;
  readonly bodyAfter: Buffer;
  readonly hasOwnBody?: boolean;
  /**
   * Header fields, besides the pseudo-fields and `authorization`, that most requests of a
   * connection share: worth remembering.
   */
  readonly lastingFields: Readonly<Record<string, string>>;
  /** Header fields of this message, which would drive the lasting ones out of the peer's table. */
  readonly messageFields: Readonly<Record<string, string>>;
}

/** What the provider said. */
export interface Answer {
  readonly status: number;
  /** The `retry-after` field in milliseconds from now, or null. */
  readonly retryAfterMs: number | null;
  /** At most `bodyBytesMax` of it. */
  readonly body: string;
}

/** Limits of a transport; each provider's `settings.ts` gives them with their reasons. */
export interface TransportLimits {
  /** Streams open at once on a connection, however many more the provider would allow. */
  readonly streamsMax: number;
  /** An answer that takes longer is `unknown`. */
  readonly requestTimeoutMs: number;
  /** From the first packet to the provider's SETTINGS. */
  readonly connectTimeoutMs: number;
  /** Connections of one pool, however much more the demand would ask for. */
  readonly connectionsMax: number;
  /** How often a pool that is used up may double its connections. */
  readonly growEveryMs: number;
  /**
   * A connection beyond the first is closed when it was not used for so long, or for longer but
   * less than a tenth of the time.
   */
  readonly idleMsMax: number;
  /** A connection this old is replaced: the addresses of its name may have changed. */
  readonly ageMsMax: number;
  /** Times that one send is tried again because the provider refused to look at it. */
  readonly refusalsMax: number;
  /** A connection that was silent for so long is asked for a sign of life. */
  readonly pingAfterSilenceMs: number;
  /** Without a sign of life for so long after that, it is taken for dead. */
  readonly pingTimeoutMs: number;
  /** Pings without a request between them. */
  readonly pingsInARowMax: number;
  /** Pause after the first connection that came to nothing; doubles with each further one. */
  readonly reconnectPauseMs: number;
  readonly reconnectPauseMsMax: number;
  /** How long `close` waits for sends under way. */
  readonly drainTimeoutMs: number;
  /** Bytes kept of an answer's body. */
  readonly bodyBytesMax: number;
}

export interface TransportOptions {
  /** `https://host[:port]` */
  readonly origin: string;
  readonly ca: string | null;
  readonly authorization: string;
  readonly limits: TransportLimits;
  /** Addresses that may be connected to, when a stranger has chosen the origin; null: all. */
  readonly admits: ((address: string) => boolean) | null;
  /**
   * What an answer means. `refused` is tried again on a new connection; the connection that said so
   * takes no more.
   */
  readonly outcomeOf: (answer: Answer) => Outcome;
}

export interface Transport {
  /** As `Sender.capacity`. */
  readonly capacity: number;
  /** As `Sender.whenReady`. */
  whenReady(): Promise<void>;
  /**
   * As `Sender.send`; `token` is written as it is, so it has to be in the form its place needs.
   * `body`: this send's own, never changed again; for templates that say so.
   */
  send(
    template: RequestTemplate,
    token: DeviceToken,
    position: number,
    settle: Settle,
    body?: Buffer,
  ): void;
  /** As `Sender.warm`. */
  warm(connections: number): void;
  /** As `Sender.authorize`. */
  authorize(authorization: string): void;
  /** As `Sender.close`. */
  close(): Promise<void>;
}
