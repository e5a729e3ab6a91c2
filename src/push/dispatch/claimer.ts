/**
 * Keeps the workers' slots filled from the ledger, fairly. It claims what was planned here at once,
 * and looks when slots have become free and every 250 ms, which is how it learns of other nodes'
 * work, retries that are due and leases that have ended. (LISTEN would save at most that much, and
 * the embedded database has none.)
 */

import type { Logger } from 'pino';
import type { PlatformOfApp } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import { Bell } from '../../std/bell.ts';
import type { Clock } from '../../std/clock.ts';
import type { Claimable } from '../../store/ledger/list-claimable.ts';
import { listClaimable } from '../../store/ledger/list-claimable.ts';
import type { DueLine, PlannedNotification } from '../../store/notifications/plan-due.ts';
import type { Sql } from '../../store/sql.ts';
import type { Presence } from '../protocol/presence.ts';
import type { GiveBack } from '../protocol/task.ts';
import type { Candidate } from './allotment.ts';
import { Allotment } from './allotment.ts';
import type { Right } from './authorizer.ts';
import { claimTurns } from './claim.ts';
import type { Claimed } from './claimed.ts';
import { scopeOf } from './claimed.ts';
import type { Assignment } from './dispatcher.ts';
import { isSuspect } from './parking.ts';
import type { SmallCandidate } from './small-parts.ts';
import { SmallParts, smallIdOf } from './small-parts.ts';
import type { Lot } from './worker-pool.ts';

const POLL_INTERVAL_MS = 250;
/**
 * While small parts wait here, the ledger is asked for others so often only: for those of other
 * nodes that have gone, and retries. A look passes over all that is under way.
 */
const SMALL_POLL_INTERVAL_MS = 2_000;
/**
 * Large parts that are remembered from one round to the next; what is beyond is found by a look.
 */
const OFFERED_MAX = 1_000;
/**
 * A task may hold its slot for so long while a notification has none at all: then it gives the rest
 * back. With the answers that it waits for then, the other one begins within a second.
 */
const QUANTUM_MS = 500;
/**
 * A task that makes room may go on to the end of its block, and waits for its answers: it must not
 * send twice for that.
 */
const MAKE_ROOM: GiveBack = { withinMs: 2_000, answersWithinMs: null };

export interface ClaimerOptions {
  readonly sql: Sql;
  readonly slots: number;
  readonly leaseMs: number;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly log: Logger;
  /** The right to send, asked for while it is being claimed. */
  readonly authorize: (appId: number, platformId: number) => Promise<Right>;
  readonly start: (claimed: Claimed, right: Promise<Right>, lot: Lot | null) => Assignment;
  /** Lines that were full have room again. */
  readonly onRoom: () => void;
}

/**
 * While nobody waits for a slot, those that become free are filled together: a quarter of them, or
 * when no more than a third is busy. The rest has some hundred milliseconds of work, and a look at
 * the ledger costs as much for one slot as for ten.
 */
const FREED_SHARE = 1 / 4;
const BUSY_SHARE = 1 / 3;

/** What has a slot: a chunk, a batch of retries, or a lot of small parts. */
interface Held extends Candidate {
  readonly assignments: readonly Assignment[];
  readonly isLot: boolean;
  readonly sinceMs: number;
  readonly isSuspect: boolean;
  isAskedToYield: boolean;
}

export class Claimer {
  private readonly options: ClaimerOptions;
  private readonly allotment = new Allotment();
  private readonly bell = new Bell();
  /** Not a Set: its old tables would keep what came and went (decision 35). */
  private held: readonly Held[] = [];
  /** Large parts planned since the last round. */
  private offered: readonly Claimable[] = [];
  private readonly small = new SmallParts();
  private lookedAtMs = 0;
  /** When the ledger was last asked for small parts too. */
  private sweptAtMs = 0;
  /** A large part may have more to claim, and slots are free. */
  private isLookDue = false;
  /** Slots that have become free since the last look. */
  private freed = 0;
  /** The last look has found a notification that has no slot. */
  private hasWaiting = false;
  private isStopping = false;
  private loop: Promise<void> = Promise.resolve();

  constructor(options: ClaimerOptions) {
    this.options = options;
  }

  start(): void {
    this.loop = this.run();
  }

  /** These have just been planned: their chunks can be claimed. */
  offer(planned: readonly PlannedNotification[]): void {
    const large: Claimable[] = [];
    for (const part of planned.flatMap(partsOf)) {
      if (part.isSmall) this.small.add(part);
      else large.push(part);
    }
    this.offered = [...this.offered, ...large].slice(0, OFFERED_MAX);
    this.bell.ring();
  }

  /** What need not be planned now, for enough of it waits here. */
  fullLines(): readonly DueLine[] {
    return this.small.fullLines();
  }

  /** Claims nothing more; what is under way finishes its block or gives back. */
  async drain(terms: GiveBack): Promise<void> {
    this.isStopping = true;
    this.bell.ring();
    await this.loop;
    const assignments = this.held.flatMap((held) => held.assignments);
    for (const assignment of assignments) assignment.giveBack(terms);
    await Promise.all(assignments.map(({ finished }) => finished));
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const isWorthAnother = await this.round();
      if (!isWorthAnother) await this.bell.wait(Math.max(0, this.lookInMs));
    }
  }

  /** Whether another one may claim more. */
  private async round(): Promise<boolean> {
    const { offered } = this;
    this.offered = [];
    // What was planned this moment need not be looked for, unless it is time to look, or others
    // wait who must not be passed over.
    const mustLook = this.hasWaiting || this.isLookDue || this.lookInMs <= 0;
    const hasWork = offered.length > 0 || this.small.size > 0;
    try {
      return await this.serve(hasWork && !mustLook ? offered : await this.look());
    } catch (error) {
      this.options.log.warn({ err: error }, 'nothing can be claimed; trying again');
      return false;
    }
  }

  /** The large parts that can be claimed; the small ones join those that wait here. */
  private async look(): Promise<readonly Claimable[]> {
    const { sql, clock } = this.options;
    this.freed = 0;
    this.isLookDue = false;
    this.lookedAtMs = clock.monotonicMs();
    const isSweep =
      this.small.size === 0 || this.lookedAtMs - this.sweptAtMs >= SMALL_POLL_INTERVAL_MS;
    if (isSweep) this.sweptAtMs = this.lookedAtMs;
    const found = await listClaimable(sql, isSweep ? 'all' : 'large');
    for (const part of found) if (part.isSmall) this.small.add(part);
    return found.filter(({ isSmall }) => !isSmall);
  }

  /** Until the next look that comes in any case. */
  private get lookInMs(): number {
    return this.lookedAtMs + POLL_INTERVAL_MS - this.options.clock.monotonicMs();
  }

  /**
   * Shares the free slots out. Whether another round may claim more: not all that was shared out
   * was there, or slots have become free meanwhile.
   */
  private async serve(large: readonly Claimable[]): Promise<boolean> {
    const { nodeId } = this.options.presence;
    // What it claims now might be taken away before any of it is sent.
    if (!this.options.presence.covers(nodeId)) return false;
    const free = this.options.slots - this.held.length;
    const served = this.allotment.share<Claimable | SmallCandidate>(
      [...large, ...this.small.candidates()],
      this.held,
      free,
    );
    const turns = served.filter((turn): turn is Claimable => !('isLot' in turn));
    const lots = this.takeLots(served.filter((turn): turn is SmallCandidate => 'isLot' in turn));
    const claimed = await this.claim(nodeId, turns, lots);
    const waiting = this.withoutSlot(large);
    this.hasWaiting = waiting.length > 0;
    if (claimed.slots === 0) {
      this.makeRoomFor([...waiting, ...this.withoutSlot(this.small.candidates())]);
    }
    this.isLookDue =
      (claimed.turns > 0 && claimed.turns < turns.length) || this.isShareFree || this.isLookDue;
    return this.isLookDue || (this.small.size > 0 && claimed.lots < lots.length);
  }

  private takeLots(turns: readonly SmallCandidate[]): readonly (readonly Claimable[])[] {
    if (turns.length === 0) return [];
    const lots = [...new Set(turns)].flatMap((candidate) =>
      this.small.take(candidate, turns.filter((turn) => turn === candidate).length),
    );
    this.options.onRoom();
    return lots;
  }

  private async claim(
    nodeId: number | null,
    turns: readonly Claimable[],
    lots: readonly (readonly Claimable[])[],
  ): Promise<ClaimedSlots> {
    const wanted = [...turns, ...lots.flat()];
    if (wanted.length === 0) return NOTHING_CLAIMED;
    const { sql, leaseMs, clock } = this.options;
    const rights = this.rightsOf(wanted);
    const { claimed, errors } = await claimTurns(wanted, {
      sql,
      leaseMs,
      leaseStartedMs: clock.monotonicMs(),
      nodeId,
      mayTakeSuspect: !this.held.some((held) => held.isSuspect),
    });
    const slots = slotsOf(claimed, lots);
    for (const parts of slots) this.hold(parts, rights);
    if (errors.length > 0) throw errors[0];
    const inLots = slots.filter(({ isLot }) => isLot).length;
    return { slots: slots.length, lots: inLots, turns: slots.length - inLots };
  }

  /**
   * Of each (app, platform) one. That it cannot be had is told by whoever waits for it; when
   * nothing could be claimed nobody needs it.
   */
  private rightsOf(turns: readonly Claimable[]): (scope: PlatformOfApp) => Promise<Right> {
    const rights = new Map<string, Promise<Right>>();
    const rightOf = (scope: PlatformOfApp): Promise<Right> => {
      const key = scopeKeyOf(scope);
      const right = rights.get(key) ?? this.options.authorize(scope.appId, scope.platformId);
      rights.set(key, right);
      return right;
    };
    for (const turn of turns) rightOf(turn).catch(() => undefined);
    return rightOf;
  }

  private hold({ parts, isLot }: Slot, rightOf: (scope: PlatformOfApp) => Promise<Right>): void {
    const [first] = parts;
    if (first === undefined) return;
    const { notificationId, clientId, appId, platformId } = scopeOf(first);
    const lot: Lot | null = isLot ? {} : null;
    const assignments = parts.map((part) => this.options.start(part, rightOf(scopeOf(part)), lot));
    const held: Held = {
      notificationId: isLot ? smallIdOf({ appId, platformId }) : notificationId,
      clientId,
      appId,
      platformId,
      assignments,
      isLot,
      sinceMs: this.options.clock.monotonicMs(),
      isSuspect: isSuspect(first),
      isAskedToYield: false,
    };
    this.held = [...this.held, held];
    void Promise.all(assignments.map(({ finished }) => finished)).then(() => this.release(held));
  }

  private release(held: Held): void {
    this.held = this.held.filter((other) => other !== held);
    if (held.isSuspect) {
      // There is one suspect at a time: those that were left out for it need not wait for a sweep.
      this.sweptAtMs = Number.NEGATIVE_INFINITY;
      this.isLookDue = true;
    }
    if (!held.isLot) {
      this.freed += 1;
      if (held.isAskedToYield || this.isRoomWorthALook) this.isLookDue = true;
    }
    if (this.hasWaiting || this.isLookDue || this.small.size > 0) this.bell.ring();
  }

  private get isRoomWorthALook(): boolean {
    return this.isShareFree || this.held.length <= this.options.slots * BUSY_SHARE;
  }

  private get isShareFree(): boolean {
    return this.freed >= this.options.slots * FREED_SHARE;
  }

  /** One candidate for each notification that holds no slot. */
  private withoutSlot(claimable: readonly Candidate[]): readonly Candidate[] {
    const served = new Set(this.held.map(({ notificationId }) => notificationId));
    const waiting = new Map(
      claimable
        .filter(({ notificationId }) => !served.has(notificationId))
        .map((candidate) => [candidate.notificationId, candidate]),
    );
    return [...waiting.values()];
  }

  /**
   * Nothing more may be claimed. For each notification that has no slot, the one that holds its
   * slot for longest yields: of the same scope, if there is one, for it may be that scope's share
   * that is used up.
   */
  private makeRoomFor(waiting: readonly Candidate[]): void {
    let yielding = this.held.filter(({ isAskedToYield }) => isAskedToYield).length;
    for (const candidate of waiting) {
      if (yielding > 0) yielding -= 1;
      else this.askToYield(candidate);
    }
  }

  private askToYield(candidate: Candidate): void {
    const nowMs = this.options.clock.monotonicMs();
    const longest = this.held
      .filter(({ isAskedToYield, sinceMs }) => !isAskedToYield && nowMs - sinceMs >= QUANTUM_MS)
      .sort((a, b) => a.sinceMs - b.sinceMs);
    const scopeKey = scopeKeyOf(candidate);
    const held = longest.find((other) => scopeKeyOf(other) === scopeKey) ?? longest[0];
    if (held === undefined) return;
    held.isAskedToYield = true;
    for (const assignment of held.assignments) assignment.giveBack(MAKE_ROOM);
  }
}

/** What a claim has filled. */
interface ClaimedSlots {
  readonly slots: number;
  readonly lots: number;
  readonly turns: number;
}

const NOTHING_CLAIMED: ClaimedSlots = { slots: 0, lots: 0, turns: 0 };

/** What shares a slot: one part, or the parts of a lot. */
interface Slot {
  readonly parts: readonly Claimed[];
  readonly isLot: boolean;
}

/** A suspect (decision 39) is alone in its slot, whatever it was claimed with. */
function slotsOf(
  claimed: readonly Claimed[],
  lots: readonly (readonly Claimable[])[],
): readonly Slot[] {
  const lotOf = new Map(lots.flatMap((lot) => lot.map((part) => [partKeyOf(part), lot] as const)));
  const filled = new Map<readonly Claimable[], Claimed[]>();
  const alone: Slot[] = [];
  for (const part of claimed) {
    const lot = lotOf.get(partKeyOf(scopeOf(part)));
    if (lot === undefined || isSuspect(part)) alone.push({ parts: [part], isLot: false });
    else {
      const parts = filled.get(lot);
      if (parts === undefined) filled.set(lot, [part]);
      else parts.push(part);
    }
  }
  return [...alone, ...[...filled.values()].map((parts) => ({ parts, isLot: true }))];
}

const partKeyOf = (part: Candidate): string => `${part.notificationId} ${scopeKeyOf(part)}`;

const partsOf = ({
  id,
  clientId,
  isScheduled,
  scopes,
}: PlannedNotification): readonly Claimable[] =>
  scopes.map(({ appId, platformId, chunks }) => ({
    appId,
    platformId,
    notificationId: id,
    clientId,
    hasChunks: true,
    hasRetries: false,
    isSmall: chunks === 1,
    isScheduled,
  }));
