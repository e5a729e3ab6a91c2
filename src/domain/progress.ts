/**
 * The report of a worker on its part of a send: plain values that cross the thread's port and enter
 * the ledger.
 */

import type { ApnsEnvironment } from './device.ts';
import type { Counts, NotificationScope } from './notification.ts';

/** How a send to a device ends for good; `total` is the sum of these five. */
export const FINAL_KINDS = ['delivered', 'failed', 'skipped', 'expired', 'cancelled'] as const;
export type FinalKind = (typeof FINAL_KINDS)[number];

/** The failure reason of devices in parked parts. */
export const PARKED = 'Parked';

/** A device whose send may succeed later. */
export interface NewRetry {
  readonly ordinal: number;
  /** Sends tried so far. */
  readonly attempts: number;
  readonly reason: string;
  readonly dueInMs: number;
  /** It is unknown whether the send before was accepted. */
  readonly isUncertain: boolean;
}

/** A device observation, besides the outcome of the send. */
export type DeviceObservation = { readonly ordinal: number } & (
  | {
      /**
       * The provider no longer knows the device, or refuses it and may be wrong. Void if the device
       * registers at or after this time.
       */
      readonly kind: 'gone' | 'refused';
      readonly registeredBeforeMs: number;
    }
  /** Accepted in this environment of APNs, not in the one tried first. */
  | { readonly kind: 'moved'; readonly environment: ApnsEnvironment }
  /** Accepted after earlier refusals. */
  | { readonly kind: 'restored' }
);

/** A device whose send has failed for good, as its provider answered. */
export interface DeviceFailure {
  readonly ordinal: number;
  readonly reason: string;
}

interface ProgressShape extends NotificationScope {
  readonly observations: readonly DeviceObservation[];
  /** Failures for the look-up of one device: of many, the first ones. Absent: none. */
  readonly failures?: readonly DeviceFailure[];
  /** The credential's or message's fault that was found: nothing more is sent in this scope. */
  readonly fault: string | null;
  /** Number of devices in this report that were handed to the provider. */
  readonly sends: number;
  /** Epoch milliseconds of the first and last of these sends; null: none. */
  readonly sentFromMs: number | null;
  readonly sentToMs: number | null;
  /**
   * Why a part that is given back waits: its provider fails for everyone, or its quota is used up.
   * Absent: no reason.
   */
  readonly waitingFor?: Wait;
  /**
   * Why the claim failed, by a fault of its own. Absent: it went in order, and the count of claims
   * without progress starts again.
   */
  readonly failure?: string;
  /** The devices that it counts as failed are not sent to until an operator releases them. */
  readonly isParked?: true;
}

export interface Wait {
  readonly reason: string;
  readonly forMs: number;
}

/**
 * Done blocks of a chunk, with their counts. Without blocks the report only renews or gives back
 * the lease.
 */
export interface ChunkProgress extends ProgressShape {
  readonly kind: 'chunk';
  readonly groupNumber: number;
  /** Epoch of the claim: progress under an older one is refused. */
  readonly epoch: number;
  /** Bit n: block n. 64 bits, signed. */
  readonly blocks: bigint;
  readonly counts: Counts;
  /** The reasons of `counts.failed`, with a count for each. */
  readonly reasons: readonly (readonly [reason: string, count: number])[];
  readonly retries: readonly NewRetry[];
  /**
   * At most once: bit n: block n may be sent once this is recorded. Null: the ledger keeps its
   * value.
   */
  readonly started: bigint | null;
  /**
   * Devices of the blocks that are not done after this report. Null: not looked at, and the ledger
   * keeps its value.
   */
  readonly openDevices: number | null;
  /**
   * Counts so far of the devices in blocks that have begun and are not done. They are shown now,
   * and counted when the blocks are done. Absent: the send is held to no rate.
   */
  readonly begun?: Counts;
  /** Not null: the chunk is given back, to be claimed again after this time. */
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
  /** Due again, and it is unknown whether this send was accepted. */
  readonly isUncertain: boolean;
}

export interface RetryProgress extends ProgressShape {
  readonly kind: 'retries';
  readonly settlements: readonly RetrySettlement[];
}

export type Progress = ChunkProgress | RetryProgress;
