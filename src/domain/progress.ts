/** A worker's report on its part of a send: plain values, for the thread's port and the ledger. */

import type { ApnsEnvironment } from './device.ts';
import type { Counts, NotificationScope } from './notification.ts';

/** How a send to a device ends for good; `total` is the sum of these five. */
export const FINAL_KINDS = ['delivered', 'failed', 'skipped', 'expired', 'cancelled'] as const;
export type FinalKind = (typeof FINAL_KINDS)[number];

/** The failure reason of devices in parked parts. */
export const PARKED = 'Parked';

export interface NewRetry {
  readonly ordinal: number;
  readonly attempts: number;
  readonly reason: string;
  readonly dueInMs: number;
  /** It is unknown whether the send before was accepted. */
  readonly isUncertain: boolean;
}

export type DeviceObservation = { readonly ordinal: number } & (
  | {
      /** Unknown to the provider, or refused. Void if it registers at or after this time. */
      readonly kind: 'gone' | 'refused';
      readonly registeredBeforeMs: number;
    }
  /** Accepted in this environment of APNs, not in the one tried first. */
  | { readonly kind: 'moved'; readonly environment: ApnsEnvironment }
  /** Accepted after earlier refusals. */
  | { readonly kind: 'restored' }
);

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
  readonly sends: number;
  /** Epoch milliseconds of the first and last of these sends; null: none. */
  readonly sentFromMs: number | null;
  readonly sentToMs: number | null;
  /** Why a part that is given back waits. Absent: no reason. */
  readonly waitingFor?: Wait;
  /** Why the claim failed. Absent: claims without progress count from 0 again. */
  readonly failure?: string;
  /** The devices that it counts as failed are not sent to until an operator releases them. */
  readonly isParked?: true;
}

export interface Wait {
  readonly reason: string;
  readonly forMs: number;
}

/**
 * They take two octets each in a row that many things write.
 * @limit devices of a send, and of a task of it, whose reach is written into the row of its scope →
 * a row of its own
 */
export const REACHED_IN_SCOPE_MAX = 64;

/** Devices of a group that the provider accepted a message for, or may have. */
export interface Reached {
  readonly devices: number;
  /** Says which they are, in hexadecimal digits (push/worker/chunk/reach.ts). */
  readonly words: string;
}

/** Reports the places of devices that a cap concerns (decision 78). */
export interface PlacesProgress {
  readonly category: string;
  /** Those that were left out. Null: no device. */
  readonly withheld: Reached | null;
  /** Those that surely do not have the message, and will not get it. Null: no device. */
  readonly returned: Reached | null;
}

/** Done blocks of a chunk. Without blocks the report only renews or gives back the lease. */
export interface ChunkProgress extends ProgressShape {
  readonly kind: 'chunk';
  readonly groupNumber: number;
  /** Epoch of the claim: progress under an older one is refused. */
  readonly epoch: number;
  /** Bit n: block n. 64 bits, signed. */
  readonly blocks: bigint;
  readonly counts: Counts;
  readonly reasons: readonly (readonly [reason: string, count: number])[];
  readonly retries: readonly NewRetry[];
  /** Devices of these blocks. Absent: none. */
  readonly reached?: Reached;
  /** Words of those of their devices that a cancelled job does not send to. Absent: none. */
  readonly rest?: string;
  /** The chunk is the only one of its scope, and so few are written into the scope's row. */
  readonly isReachedInScope?: true;
  /** A holder was lost: devices of blocks that are not done yet may have the message. */
  readonly isDoubted?: true;
  /** The places in these blocks; the total includes who was left out. Absent: no caps. */
  readonly places?: PlacesProgress;
  /** At most once: bit n: block n may be sent once this is recorded. Null: no change. */
  readonly started: bigint | null;
  /** Devices of the blocks that are not done after this report. Null: no change. */
  readonly openDevices: number | null;
  /** Counts of devices in blocks that have begun and are not done. Absent: it goes fast. */
  readonly begun?: Counts;
  /** Not null: the chunk is given back, to be claimed again after this time. */
  readonly releaseAfterMs: number | null;
}

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
  /** This send was accepted, or may have been. */
  readonly isReached: boolean;
}

export interface RetryProgress extends ProgressShape {
  readonly kind: 'retries';
  readonly settlements: readonly RetrySettlement[];
  /** The same as of a chunk. */
  readonly isReachedInScope?: true;
  /** Its devices have places. */
  readonly isCapped?: true;
}

export type Progress = ChunkProgress | RetryProgress;
