/** A claimed part, as a task for a worker and as the report that gives it back. */

import type { Audience, Correction, Counts, Message, Payload } from '../../domain/notification.ts';
import type { Progress } from '../../domain/progress.ts';
import type { Deadlines } from '../protocol/deadlines.ts';
import { deadlinesOf, isTooLate } from '../protocol/deadlines.ts';
import type { AuthorizedCredential, Task } from '../protocol/task.ts';
import type { ClaimedChunk } from '../sql/ledger/claim-chunks.ts';
import type { ClaimedRetries } from '../sql/ledger/claim-retries.ts';

interface Claim {
  readonly leaseStartedMs: number;
  /** The id under which it was claimed. Null: no other node exists. */
  readonly nodeId: number | null;
}

export type Claimed =
  | (Claim & { readonly kind: 'chunk'; readonly chunk: ClaimedChunk })
  | (Claim & { readonly kind: 'retries'; readonly retries: ClaimedRetries });

export const partOf = (claimed: Claimed): ClaimedChunk | ClaimedRetries =>
  claimed.kind === 'chunk' ? claimed.chunk : claimed.retries;

const messageOf = (claimed: Claimed): Message => {
  const { notificationId, terms, expiresAtMs, dueAtMs, retries, correction } = partOf(claimed);
  return {
    notificationId,
    payload: terms.payload,
    expiresAtMs,
    dueAtMs,
    ...(retries === null ? {} : { chain: retries, ...followedBy(correction, retries) }),
  };
};

function followedBy(
  correction: Correction | null,
  first: string,
): Pick<Message, 'replaces' | 'retracts'> {
  switch (correction) {
    case 'correct':
      return { replaces: first };
    case 'retract':
      return { retracts: first };
    case null:
      return {};
  }
}

export const deadlinesOfClaimed = (claimed: Claimed): Deadlines =>
  deadlinesOf(messageOf(claimed), partOf(claimed).platformId);

interface TaskContent {
  readonly audience: Audience;
  readonly payload: Payload;
  /** Null: no device. */
  readonly leftOut: Uint8Array | null;
  /** Null: all of the audience. */
  readonly named: Uint8Array | null;
}

/**
 * The task for a worker. `audience` and `payload`: with ids in place of tests and languages.
 * `leftOut`: devices of a chunk that have the message already; `named`: those that it goes to.
 * `fault`: why none is sent.
 */
export function taskOf(
  claimed: Claimed,
  { audience, payload, leftOut, named }: TaskContent,
  leaseMs: number,
  authorization: {
    readonly authorized: AuthorizedCredential | null;
    readonly fault: string | null;
    readonly isTraced?: true;
  },
): Task {
  const part = partOf(claimed);
  const { payload: _, ...terms } = part.terms;
  const shared = {
    ...terms,
    audience,
    message: { ...messageOf(claimed), payload },
    appId: part.appId,
    platformId: part.platformId,
    ...deadlinesOfClaimed(claimed),
    claimedAtMs: part.claimedAtMs,
    leaseStartedMs: claimed.leaseStartedMs,
    leaseMs,
    nodeId: claimed.nodeId,
    isCancelled: part.state === 'CANCELLED',
    hasDelivered: part.hasDelivered,
    isAlone: part.isAlone,
    caps: part.caps,
    ...authorization,
  };
  if (claimed.kind === 'retries') {
    const { ordinals, epochs, attempts, wereLost } = claimed.retries;
    return { ...shared, kind: 'retries', ordinals, epochs, attempts, wereLost };
  }
  const { groupNumber, epoch, doneBlocks, startedBlocks, ordinalEnd, groupVersion } = claimed.chunk;
  return {
    ...shared,
    kind: 'chunk',
    groupNumber,
    epoch,
    doneBlocks: BigInt(doneBlocks),
    startedBlocks: BigInt(startedBlocks),
    ordinalEnd,
    groupVersion,
    // At most once, startedBlocks has what may have been sent.
    isDoubted: claimed.chunk.isDoubted && !terms.isAtMostOnce,
    ...(leftOut === null ? {} : { leftOut }),
    ...(named === null ? {} : { named }),
  };
}

const NOTHING: Counts = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };

/**
 * Recorded progress stays; retries that would be too late by then have expired. `failure`: the
 * fault of its own by which the claim failed.
 */
export function releaseOf(
  claimed: Claimed,
  afterMs: number,
  nowMs: number,
  failure: string | null = null,
): Progress {
  const { notificationId, appId, platformId } = partOf(claimed);
  const shared = {
    notificationId,
    appId,
    platformId,
    observations: [],
    fault: null,
    sends: 0,
    sentFromMs: null,
    sentToMs: null,
    ...(failure === null ? {} : { failure }),
  };
  if (claimed.kind === 'chunk') {
    const { groupNumber, epoch } = claimed.chunk;
    return {
      ...shared,
      kind: 'chunk',
      groupNumber,
      epoch,
      blocks: 0n,
      counts: NOTHING,
      reasons: [],
      retries: [],
      // The worker may have been lost in the middle: started blocks stay started.
      started: null,
      openDevices: null,
      releaseAfterMs: afterMs,
    };
  }
  const { ordinals, epochs, attempts } = claimed.retries;
  const isLate = isTooLate(deadlinesOfClaimed(claimed), nowMs + afterMs);
  return {
    ...shared,
    kind: 'retries',
    ...(partOf(claimed).caps === null ? {} : { isCapped: true }),
    settlements: ordinals.map((ordinal, index) => ({
      ordinal,
      epoch: epochs[index] ?? 0,
      ending: isLate && (attempts[index] ?? 0) > 0 ? 'expired' : null,
      reason: null,
      attempts: attempts[index] ?? 0,
      dueInMs: afterMs,
      isUncertain: false,
      isReached: false,
    })),
  };
}

/** The release of what a lost worker may have sent. The next claim doubts the retries that stay. */
export const doubted = (release: Progress): Progress =>
  release.kind === 'chunk'
    ? { ...release, isDoubted: true }
    : {
        ...release,
        settlements: release.settlements.map((settlement) =>
          settlement.ending === null ? settlement : { ...settlement, isReached: true },
        ),
      };
