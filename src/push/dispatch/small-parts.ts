/**
 * Small parts that wait for a slot. Many of one (app, platform) are claimed, sent and recorded
 * together, as a batch. Each has a queue of pushes to send at once and one of scheduled ones, which
 * take turns, and two more for urgent parts. Parts without room stay in the database.
 */

import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import { groupBy } from '../../std/group-by.ts';
import type { Claimable } from '../sql/ledger/list-claimable.ts';
import type { DueQueue } from '../sql/notifications/plan-due.ts';
import type { Claimed } from './claimed.ts';
import { partOf } from './claimed.ts';
import type { Candidate } from './fair-share.ts';

/**
 * Parts of a queue, some tenths of a second of work; beyond it no more of it are planned.
 * @limit small parts (one chunk) that wait in memory, of one queue of a client, or an equal share →
 * no more of the queue is planned
 */
const QUEUE_PARTS_MAX = 1_024;
/**
 * Parts of all queues together: half a dozen megabytes, shared equally among the queues.
 * @limit small parts that wait in memory, of all → found by the next query of the ledger
 */
const PARTS_MAX = 16_384;
/**
 * They are recorded together: with more the first would wait long for the last.
 * @limit small parts of a slot → the next slot
 */
export const BATCH_PARTS_MAX = 32;
/**
 * A batch itself costs as much as some parts, so fewer parts are not spread over the free slots.
 * @limit small parts of a slot at least, while so many wait
 */
const BATCH_PARTS_MIN = 4;

/** All small parts of one (app, platform) and urgency, as one candidate for slots. */
export interface SmallCandidate extends Candidate {
  readonly isLot: true;
  readonly slotsMax: number;
}

/** A part that may turn out to be small. */
export interface SmallPart extends Scope {
  readonly clientId: number;
  readonly isUrgent: boolean;
}

/** For parts that come together: one for each (app, platform) and urgency among them. */
export function candidatesOf(parts: readonly SmallPart[]): readonly SmallCandidate[] {
  const found = new Map<string, Omit<SmallCandidate, 'slotsMax'> & { parts: number }>();
  for (const part of parts) {
    const candidate = candidateOf(part);
    const known = found.get(candidate.notificationId);
    if (known === undefined) found.set(candidate.notificationId, { ...candidate, parts: 1 });
    else known.parts += 1;
  }
  return [...found.values()].map(({ parts: count, ...candidate }) => ({
    ...candidate,
    slotsMax: Math.ceil(count / BATCH_PARTS_MAX),
  }));
}

/** Claimed parts that came together, a batch for each slot; of each candidate alike many. */
export function inBatches<T extends Claimed>(claimed: readonly T[]): readonly (readonly T[])[] {
  const ofCandidates = groupBy(claimed, (part) => {
    const { terms, ...scope } = partOf(part);
    return smallIdOf(scope, terms.isUrgent);
  });
  return [...ofCandidates.values()].flatMap((parts) => {
    const batches = Math.ceil(parts.length / BATCH_PARTS_MAX);
    const size = Math.ceil(parts.length / batches);
    return Array.from({ length: batches }, (_, n) => parts.slice(n * size, (n + 1) * size));
  });
}

/** The notification id of such a candidate, which counts as one notification. */
export const smallIdOf = (scope: Scope, isUrgent: boolean): string =>
  `small ${isUrgent ? 'urgent ' : ''}${scopeKeyOf(scope)}`;

interface ScopeParts {
  readonly candidate: Omit<SmallCandidate, 'slotsMax'>;
  /** Parts keyed by notification; a Map keeps the order in which they came. */
  readonly queues: readonly [moment: Map<string, Claimable>, scheduled: Map<string, Claimable>];
  /** Whether the last batch was of the first queue. */
  wasMoment: boolean;
}

export class SmallParts {
  /** The scopes that have parts, by the notification ids of their candidates. */
  private readonly scopes = new Map<string, ScopeParts>();
  private parts = 0;

  get size(): number {
    return this.parts;
  }

  /** Adds a part, unless it is here already or PARTS_MAX parts are. */
  add(part: Claimable): void {
    if (this.parts >= PARTS_MAX) return;
    const key = smallIdOf(part, part.isUrgent);
    const scope = this.scopes.get(key) ?? partsOfScope(part);
    const queue = scope.queues[Number(part.isScheduled)];
    if (queue === undefined || scope.queues.some((one) => one.has(part.notificationId))) return;
    queue.set(part.notificationId, part);
    this.parts += 1;
    this.scopes.set(key, scope);
  }

  /** One for each (app, platform) and urgency with waiting parts. */
  candidates(): readonly SmallCandidate[] {
    return [...this.scopes.values()].map((scope) => ({
      ...scope.candidate,
      slotsMax: batchesMaxOf(scope),
    }));
  }

  has({ notificationId }: SmallCandidate): boolean {
    return this.scopes.has(notificationId);
  }

  /** Takes out the parts that waited longest: a batch for each slot, from the queues in turn. */
  take(candidate: SmallCandidate, slots: number): readonly (readonly Claimable[])[] {
    const key = candidate.notificationId;
    const scope = this.scopes.get(key);
    if (scope === undefined) return [];
    const batches: (readonly Claimable[])[] = [];
    for (let left = slots; left > 0 && sizeOf(scope) > 0; left -= 1) {
      const batch = takeFirst(nextQueueOf(scope), left);
      this.parts -= batch.length;
      batches.push(batch);
    }
    if (sizeOf(scope) === 0) this.scopes.delete(key);
    return batches;
  }

  /** The queues of which enough parts are here. */
  fullQueues(): readonly DueQueue[] {
    const counts = new Map<string, DueQueue & { parts: number }>();
    for (const { candidate, queues } of this.scopes.values()) {
      for (const [index, { size }] of queues.entries()) {
        if (size === 0) continue;
        const { clientId, isUrgent } = candidate;
        const key = `${clientId}.${index}.${isUrgent}`;
        const queue = counts.get(key) ?? { clientId, isScheduled: index === 1, isUrgent, parts: 0 };
        queue.parts += size;
        counts.set(key, queue);
      }
    }
    const partsMax = Math.min(QUEUE_PARTS_MAX, Math.floor(PARTS_MAX / (counts.size + 1)));
    return [...counts.values()].filter(({ parts }) => parts >= partsMax);
  }
}

const partsOfScope = (part: SmallPart): ScopeParts => ({
  candidate: candidateOf(part),
  queues: [new Map(), new Map()],
  wasMoment: false,
});

const candidateOf = ({
  clientId,
  appId,
  platformId,
  isUrgent,
}: SmallPart): Omit<SmallCandidate, 'slotsMax'> => ({
  notificationId: smallIdOf({ appId, platformId }, isUrgent),
  clientId,
  appId,
  platformId,
  isUrgent,
  ratePerSecond: null,
  isLot: true,
});

const sizeOf = ({ queues }: ScopeParts): number => queues.reduce((sum, { size }) => sum + size, 0);

const batchesMaxOf = ({ queues }: ScopeParts): number =>
  queues.reduce((sum, { size }) => sum + Math.ceil(size / BATCH_PARTS_MIN), 0);

function nextQueueOf(scope: ScopeParts): Map<string, Claimable> {
  const [moment, scheduled] = scope.queues;
  const isMoment = moment.size > 0 && (scheduled.size === 0 || !scope.wasMoment);
  scope.wasMoment = isMoment;
  return isMoment ? moment : scheduled;
}

/** Takes a batch from a queue, when so many slots are left. */
function takeFirst(queue: Map<string, Claimable>, slots: number): readonly Claimable[] {
  const size = Math.min(BATCH_PARTS_MAX, Math.max(BATCH_PARTS_MIN, Math.ceil(queue.size / slots)));
  const batch: Claimable[] = [];
  for (const [key, part] of queue) {
    queue.delete(key);
    batch.push(part);
    if (batch.length === size) break;
  }
  return batch;
}
