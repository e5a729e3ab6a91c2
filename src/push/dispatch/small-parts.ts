/**
 * Small parts that wait for a slot: those with one chunk at most and few retries. One alone would
 * waste a slot, so many small parts of one (app, platform) are claimed, sent and recorded together,
 * as a lot. Each (app, platform) has two lines: pushes to send at once, and scheduled ones. A lot
 * comes from one line, and the lines take turns, so that "your parcel is here" does not wait for
 * everything that is due at eight. Urgent parts have two such lines of their own, and lots of their
 * own, which the fair share knows as urgent. Parts without room here stay in the database: not
 * planned (`fullLines`), or found by a later look.
 */

import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Claimable } from '../sql/ledger/list-claimable.ts';
import type { DueLine } from '../sql/notifications/plan-due.ts';
import type { Candidate } from './fair-share.ts';

/**
 * Parts of a line, some tenths of a second of work; beyond it no more of it are planned.
 * @limit small parts (one chunk) that wait in memory, of one line of a client, or an equal share →
 * no more of the line is planned
 */
const LINE_PARTS_MAX = 1_024;
/**
 * Parts of all lines together: half a dozen megabytes, shared equally among the lines.
 * @limit small parts that wait in memory, of all → found by the next query of the ledger
 */
const PARTS_MAX = 16_384;
/**
 * A lot is the work of one slot, and its parts are recorded together: with more parts the first
 * would wait long for the last.
 * @limit small parts of a slot → the next slot
 */
export const LOT_PARTS_MAX = 32;
/**
 * A lot itself costs as much as some parts, so fewer parts are not spread over the free slots.
 * @limit small parts of a slot at least, while so many wait
 */
const LOT_PARTS_MIN = 4;

/** All small parts of one (app, platform) and urgency, as one candidate for slots. */
export interface SmallCandidate extends Candidate {
  readonly isLot: true;
  readonly slotsMax: number;
}

/** The notification id of such a candidate, which counts as one notification. */
export const smallIdOf = (scope: Scope, isUrgent: boolean): string =>
  `small ${isUrgent ? 'urgent ' : ''}${scopeKeyOf(scope)}`;

interface ScopeParts {
  readonly candidate: Omit<SmallCandidate, 'slotsMax'>;
  /** By notification; a Map keeps the order in which the parts came. */
  readonly lines: readonly [moment: Map<string, Claimable>, scheduled: Map<string, Claimable>];
  /** Whether the last lot was of the first line. */
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
    const line = scope.lines[Number(part.isScheduled)];
    if (line === undefined || line.has(part.notificationId)) return;
    line.set(part.notificationId, part);
    this.parts += 1;
    this.scopes.set(key, scope);
  }

  /** One for each (app, platform) and urgency with waiting parts. */
  candidates(): readonly SmallCandidate[] {
    return [...this.scopes.values()].map((scope) => ({
      ...scope.candidate,
      slotsMax: lotsMaxOf(scope),
    }));
  }

  /** Whether parts of this candidate wait here. */
  has({ notificationId }: SmallCandidate): boolean {
    return this.scopes.has(notificationId);
  }

  /** Takes out the parts that waited longest: a lot for each slot, from the lines in turn. */
  take(candidate: SmallCandidate, slots: number): readonly (readonly Claimable[])[] {
    const key = candidate.notificationId;
    const scope = this.scopes.get(key);
    if (scope === undefined) return [];
    const lots: (readonly Claimable[])[] = [];
    for (let left = slots; left > 0 && sizeOf(scope) > 0; left -= 1) {
      const lot = takeFirst(nextLineOf(scope), left);
      this.parts -= lot.length;
      lots.push(lot);
    }
    if (sizeOf(scope) === 0) this.scopes.delete(key);
    return lots;
  }

  /** The lines of which enough parts are here. */
  fullLines(): readonly DueLine[] {
    const counts = new Map<string, DueLine & { parts: number }>();
    for (const { candidate, lines } of this.scopes.values()) {
      for (const [index, { size }] of lines.entries()) {
        if (size === 0) continue;
        const { clientId, isUrgent } = candidate;
        const key = `${clientId}.${index}.${isUrgent}`;
        const line = counts.get(key) ?? { clientId, isScheduled: index === 1, isUrgent, parts: 0 };
        line.parts += size;
        counts.set(key, line);
      }
    }
    const partsMax = Math.min(LINE_PARTS_MAX, Math.floor(PARTS_MAX / (counts.size + 1)));
    return [...counts.values()].filter(({ parts }) => parts >= partsMax);
  }
}

function partsOfScope({ clientId, appId, platformId, isUrgent }: Claimable): ScopeParts {
  const candidate = {
    notificationId: smallIdOf({ appId, platformId }, isUrgent),
    clientId,
    appId,
    platformId,
    isUrgent,
    ratePerSecond: null,
    isLot: true,
  } as const;
  return { candidate, lines: [new Map(), new Map()], wasMoment: false };
}

const sizeOf = ({ lines }: ScopeParts): number => lines.reduce((sum, { size }) => sum + size, 0);

const lotsMaxOf = ({ lines }: ScopeParts): number =>
  lines.reduce((sum, { size }) => sum + Math.ceil(size / LOT_PARTS_MIN), 0);

/** The line whose turn it is, of those that have parts. */
function nextLineOf(scope: ScopeParts): Map<string, Claimable> {
  const [moment, scheduled] = scope.lines;
  const isMoment = moment.size > 0 && (scheduled.size === 0 || !scope.wasMoment);
  scope.wasMoment = isMoment;
  return isMoment ? moment : scheduled;
}

/** Takes a lot from a line, when so many slots are left. */
function takeFirst(line: Map<string, Claimable>, slots: number): readonly Claimable[] {
  const size = Math.min(LOT_PARTS_MAX, Math.max(LOT_PARTS_MIN, Math.ceil(line.size / slots)));
  const lot: Claimable[] = [];
  for (const [key, part] of line) {
    line.delete(key);
    lot.push(part);
    if (lot.length === size) break;
  }
  return lot;
}
