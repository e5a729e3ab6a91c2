/** One connection of either implementation. It repeats nothing: it says how each attempt ended. */

import type { DeviceToken } from '../domain/device.ts';
import type { RequestTemplate, TransportLimits } from './transport.ts';

/** Valid only during the call that passes it. */
export interface ReceivedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** At most `bodyBytesMax` of it. The body of a 200 need not be kept. */
  readonly body: Buffer;
}

export interface AttemptFailure {
  /** The provider has certainly not processed the request. */
  readonly isUnprocessed: boolean;
  readonly reason: string;
  /** The status, if it came before the answer broke off. */
  readonly status: number | null;
}

/** One request. Its end causes exactly one call, never from inside `start`. */
export interface Attempt {
  readonly template: RequestTemplate;
  readonly token: DeviceToken;
  /** This send's own body, if the template says that each send has one. */
  readonly body?: Buffer | undefined;
  answered(answer: ReceivedAnswer): void;
  failed(failure: AttemptFailure): void;
}

export interface ProviderConnection {
  /** Streams that may be opened now: by the provider's limit as it changes, never above ours. */
  readonly free: number;
  /** Opens a stream. The caller has seen `free` above 0. */
  start(attempt: Attempt, authorization: string): void;
  /** Takes no more requests; closes when those under way have ended. */
  retire(): void;
  destroy(reason: string): void;
}

export interface ConnectionEvents {
  /** More streams may be free than before. */
  freed(): void;
  /** It takes no more requests. `isToCalmDown`: the provider said that it gets too many. */
  retired(reason: string, isToCalmDown: boolean): void;
  gone(reason: string): void;
}

export interface DialOptions {
  /** `https://host[:port]` */
  readonly origin: string;
  /** The IP address to connect to; the origin's name is for TLS and `:authority`. */
  readonly address: string;
  readonly ca: string | null;
  readonly limits: TransportLimits;
  /** The attempt to connect ends when this aborts. */
  readonly signal: AbortSignal;
}

export type Dialled =
  | { readonly ok: true; readonly connection: ProviderConnection }
  | { readonly ok: false; readonly reason: string };

/** Never throws: an unreachable provider is an answer. */
export type Dial = (options: DialOptions, events: ConnectionEvents) => Promise<Dialled>;

/** The reason when a provider allows no stream at all: it counts as unreachable. */
export const NO_STREAM = 'the provider allows no stream';
