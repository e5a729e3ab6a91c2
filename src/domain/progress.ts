/**
 * What a worker reports of its part of a send: plain values that cross the thread's port and enter
 * the ledger.
 */

import type { ApnsEnvironment } from './credential.ts';
import type { Counts, NotificationScope } from './notification.ts';

/** How a send to a device ends for good; the five that `total` is the sum of. */
export type FinalKind = 'delivered' | 'failed' | 'skipped' | 'expired' | 'cancelled';

/** The reason of devices whose part of a send nobody could bring to its end. */
export const PARKED = 'Parked';

/** A device whose send may succeed later. */
export interface NewRetry {
  readonly ordinal: number;
  /** Sends tried so far. */
  readonly attempts: number;
  readonly reason: string;
  readonly dueInMs: number;
  /** Nobody knows whether the send before was accepted. */
  readonly isUncertain: boolean;
}

/** What a send has told of its device, besides how it ended. */
export type DeviceNews = { readonly ordinal: number } & (
  | {
      /**
       * The provider no longer knows it, or refuses it and may be wrong. Void if it registers at or
       * after this time.
       */
      readonly kind: 'gone' | 'refused';
      readonly registeredBeforeMs: number;
    }
  /** Accepted in this environment of APNs, not in the one asked first. */
  | { readonly kind: 'moved'; readonly environment: ApnsEnvironment }
  /** Accepted, after it had been refused. */
  | { readonly kind: 'restored' }
);

interface ProgressShape extends NotificationScope {
  readonly news: readonly DeviceNews[];
  /** The credential's or message's fault that was found: nothing more is sent in this scope. */
  readonly fault: string | null;
  /** Devices handed to the provider that this tells of. */
  readonly sends: number;
  /** Epoch milliseconds of the first and last of them; null: none. */
  readonly sentFromMs: number | null;
  readonly sentToMs: number | null;
  /**
   * What is given back waits for this: its provider fails for everyone, or its quota is used up.
   * Absent: for nothing.
   */
  readonly waitingFor?: Wait;
  /**
   * Why the claim came to nothing, by a fault of its own. Absent: it went in order, and the claims
   * before it are forgiven.
   */
  readonly failure?: string;
  /** Nothing of what it counts as failed is sent any more, until an operator releases it. */
  readonly isParked?: true;
}

export interface Wait {
  readonly reason: string;
  readonly forMs: number;
}

/**
 * Blocks of a chunk that are done, with their counts. Without blocks it only renews or gives back
 * the lease.
 */
export interface ChunkProgress extends ProgressShape {
  readonly kind: 'chunk';
  readonly groupNumber: number;
  /** Of the claim: progress under an older one is refused. */
  readonly epoch: number;
  /** Bit n: block n. 64 bits, signed. */
  readonly blocks: bigint;
  readonly counts: Counts;
  /** Reason and count of what is in `counts.failed`. */
  readonly reasons: readonly (readonly [reason: string, count: number])[];
  readonly retries: readonly NewRetry[];
  /**
   * At most once: bit n: block n may be sent from the moment this is recorded. Null: as the ledger
   * has it.
   */
  readonly started: bigint | null;
  /** Not null: the chunk is given back, to be claimed again after this. */
  readonly releaseAfterMs: number | null;
}

/** One device of a batch of retries: ended for good, or due again. */
export interface RetrySettlement {
  readonly ordinal: number;
  readonly epoch: number;
  /** Null: due again. */
  readonly ending: FinalKind | null;
  readonly reason: string | null;
  readonly attempts: number;
  readonly dueInMs: number;
  /** Due again, and nobody knows whether this send was accepted. */
  readonly isUncertain: boolean;
}

export interface RetryProgress extends ProgressShape {
  readonly kind: 'retries';
  readonly settlements: readonly RetrySettlement[];
}

export type Progress = ChunkProgress | RetryProgress;
