/**
 * What a transport wants of one connection to a provider, whatever carries it. A connection tries
 * nothing again: it says how each attempt ended, and how many more it could take.
 */

import type { DeviceToken } from '../domain/device.ts';
import type { RequestTemplate, TransportLimits } from './transport.ts';

/** An answer as it came; valid during the call that hands it over only. */
export interface ReceivedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** At most `bodyBytesMax` of it; nothing needs to be kept for a 200. */
  readonly body: Buffer;
}

/** Why there is no whole answer. */
export interface AttemptFailure {
  /** The provider has certainly not looked at the request. */
  readonly isUnprocessed: boolean;
  readonly reason: string;
  /** The status that came before the answer broke off. */
  readonly status: number | null;
}

/** One request, and who hears of its end: exactly one call, never from inside `start`. */
export interface Attempt {
  readonly template: RequestTemplate;
  readonly token: DeviceToken;
  /** This send's own, where the template says that there is one. */
  readonly body?: Buffer | undefined;
  answered(answer: ReceivedAnswer): void;
  failed(failure: AttemptFailure): void;
}

export interface ProviderConnection {
  /**
   * Streams that may be opened now: the provider's limit, as it changes, and never more than ours.
   */
  readonly free: number;
  /** Opens a stream. The caller has seen `free` above 0. */
  start(attempt: Attempt, authorization: string): void;
  /** Takes no more requests; closes when those under way have ended. */
  retire(): void;
  /** Ends everything now, what is under way as well. */
  destroy(reason: string): void;
}

export interface ConnectionEvents {
  /** More streams may be free than before. */
  freed(): void;
  /**
   * It takes no more requests; those under way go on. `isToCalmDown`: the provider finds that we
   * ask too much of it.
   */
  retired(reason: string, isToCalmDown: boolean): void;
  /** It is gone, and every attempt on it has had its end. */
  gone(reason: string): void;
}

export interface DialOptions {
  /** `https://host[:port]` */
  readonly origin: string;
  /** The IP address to connect to; the origin's name is for TLS and `:authority`. */
  readonly address: string;
  readonly ca: string | null;
  readonly limits: TransportLimits;
  /** Gives up when it aborts. */
  readonly signal: AbortSignal;
}

export type Dialled =
  | { readonly ok: true; readonly connection: ProviderConnection }
  | { readonly ok: false; readonly reason: string };

/**
 * Opens a connection that has room for a stream. Never throws: a provider that is not there is an
 * answer.
 */
export type Dial = (options: DialOptions, events: ConnectionEvents) => Promise<Dialled>;

/** A provider that allows no stream at all is as good as none. */
export const NO_STREAM = 'the provider allows no stream';
