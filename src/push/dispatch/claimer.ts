/**
 * Keeps the workers' slots filled from the ledger, fairly. A part (a chunk or a batch of retries)
 * is:
 * - reserved for: while it is accepted, if it is small and may begin at once (`reserve`); the
 *   accepting transaction claims it, and it is held;
 * - offered: else, when it was planned (`offer`), or found by a look (`look`);
 * - chosen: a round has shared the free slots out (`serve`, fair-share.ts);
 * - claimed: with a lease (`claim`); one that another node claimed first is dropped;
 * - held: a task sends it in a slot (`hold`), and may be asked to make room (`makeRoomFor`);
 * - released: the slot is free, and a rest can be claimed again, by any node.
 * A round begins when parts were planned or slots are free, and every 250 ms.
 */

import type { Logger } from 'pino';
import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import { PLANS_ARE_KEPT } from '../../database/dedicated-connection.ts';
import type { Store } from '../../database/store.ts';
import type { Scope } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import { notificationScopeKeyOf } from '../../domain/notification.ts';
import { Bell } from '../../std/bell.ts';
import type { Clock } from '../../std/clock.ts';
import type { Presence } from '../protocol/presence.ts';
import type { GiveBack } from '../protocol/task.ts';
import type { Claimable } from '../sql/ledger/list-claimable.ts';
import { listClaimable } from '../sql/ledger/list-claimable.ts';
import type { DueQueue, PlannedNotification } from '../sql/notifications/plan-due.ts';
import type { ScopeAuthorization } from './authorizer.ts';
import { claimTurns } from './claim.ts';
import type { Claimed } from './claimed.ts';
import { partOf } from './claimed.ts';
import type { Assignment } from './dispatcher.ts';
import type { Candidate, Holder } from './fair-share.ts';
import { FairShare } from './fair-share.ts';
import { isSuspect } from './parking.ts';
import type { Reservation } from './reservations.ts';
import { Reservations } from './reservations.ts';
import type { SmallCandidate, SmallPart } from './small-parts.ts';
import { SmallParts, smallIdOf } from './small-parts.ts';
import type { Batch } from './worker-pool.ts';

/** @limit between looks for work */
const POLL_INTERVAL_MS = 250;
/**
 * While small parts wait here; such a look passes over all parts under way.
 * @limit between looks for small parts while others wait in memory
 */
const SMALL_POLL_INTERVAL_MS = 2_000;
/**
 * @limit large parts that were planned and are not claimed yet → found by the next query of the
 * ledger
 */
const OFFERED_MAX = 1_000;
/**
 * It first waits for its answers, so another notification begins within a second.
 * @limit a slot is held while another notification has none → then to the end of a block, and given
 * back
 */
const QUANTUM_MS = 500;
/**
 * Making room must not cause a second send: it waits for its answers.
 * @limit then such a slot is held to the end of a block, and at most so much longer → given back
 */
const MAKE_ROOM: GiveBack = { withinMs: 2_000, answersWithinMs: null };

interface ClaimerOptions {
  readonly store: Pick<Store, 'sql' | 'openDedicatedConnection'>;
  readonly slots: number;
  /** Further slots, for urgent sends that have none in their scope. */
  readonly reservedSlots: number;
  readonly leaseMs: number;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly log: Logger;
  /** The right to send, requested while the part is being claimed. */
  readonly authorize: (appId: number, platformId: number) => Promise<ScopeAuthorization>;
  readonly start: (
    claimed: Claimed,
    authorization: Promise<ScopeAuthorization>,
    batch: Batch | null,
  ) => Assignment;
  /** Called when queues that were full may have room again. */
  readonly onRoom: () => void;
}

/**
 * A look into the ledger costs as much for one slot as for ten.
 * @limit share of the slots that must be free to be filled together while no notification waits for
 * one
 */
const FREED_SHARE = 1 / 4;
/**
 * A slot takes 32 small sends that wait, so a few slots empty their queue. If all waited for those
 * before them instead, no send would begin at once again before the load ends.
 * @limit share of the slots that stays free for sends that wait for a plan or a claim, while small
 * ones begin with their acceptance → these take their turns
 */
const SHARE_LEFT = 1 / 4;
/** @limit share of the slots that is busy at most when they are filled together */
const BUSY_SHARE = 1 / 3;

/** The holder of a slot: a chunk, a batch of retries, or a batch of small parts. */
interface Held extends Holder {
  readonly parts: readonly Claimed[];
  readonly assignments: readonly Assignment[];
  readonly isLot: boolean;
  readonly sinceMs: number;
  readonly isSuspect: boolean;
  isAskedToYield: boolean;
}

interface WhileOthersWait {
  readonly isAnyUnplanned: boolean;
  readonly keepTheirTurn: boolean;
}

export class Claimer {
  private readonly options: ClaimerOptions;
  private readonly connection: DedicatedConnection;
  private readonly fairShare = new FairShare();
  private readonly bell = new Bell();
  /** Not a Set: its old tables would keep removed entries in memory (decision 35). */
  private held: readonly Held[] = [];
  private readonly reservations: Reservations;
  /** The candidates that a round has chosen, until it has claimed them. */
  private claiming: readonly Holder[] = [];
  private isLooking = false;
  /** Large parts planned since the last round. */
  private offered: readonly Claimable[] = [];
  private readonly small = new SmallParts();
  private lookedAtMs = 0;
  /** Time of the last look that asked for small parts too. */
  private sweptAtMs = 0;
  private isLookDue = false;
  private freed = 0;
  private hasWaiting = false;
  private isStopping = false;
  private loop: Promise<void> = Promise.resolve();

  constructor(options: ClaimerOptions) {
    this.options = options;
    this.connection = options.store.openDedicatedConnection(PLANS_ARE_KEPT);
    this.reservations = new Reservations({
      ...options,
      begin: (batches) => {
        const authorizationOf = this.authorizationsOf(batches.flat().map(partOf));
        for (const parts of batches) this.hold({ parts, isLot: true }, authorizationOf);
      },
      onFree: () => this.wakeWaiting(),
    });
  }

  start(): void {
    this.loop = this.run();
  }

  /** Takes the notifications that were just planned: their chunks can be claimed. */
  offer(planned: readonly PlannedNotification[]): void {
    const large: Claimable[] = [];
    for (const part of planned.flatMap(partsOf)) {
      if (part.isSmall) this.small.add(part);
      else large.push(part);
    }
    this.offered = [...this.offered, ...large].slice(0, OFFERED_MAX);
    this.bell.ring();
  }

  /** The queues that need no planning now, because enough of their small parts wait here. */
  fullQueues(): readonly DueQueue[] {
    return this.small.fullQueues();
  }

  /**
   * Slots for small parts that are about to be accepted. Null: they take their turns, since large
   * parts wait for slots, too few slots are free, or this node may not send. While accepted sends
   * wait for their plan (`isAnyUnplanned`) or their claim, some slots stay free for them, and parts
   * that `keepTheirTurn` overtake none.
   */
  reserve(
    parts: readonly SmallPart[],
    { isAnyUnplanned, keepTheirTurn }: WhileOthersWait,
  ): Reservation | null {
    if (this.hasWaiting || this.isStopping) return null;
    const areOthersOnTheirWay =
      isAnyUnplanned || this.isLooking || this.small.size > 0 || this.offered.length > 0;
    if (areOthersOnTheirWay && keepTheirTurn) return null;
    const left = areOthersOnTheirWay ? Math.ceil(this.options.slots * SHARE_LEFT) : 0;
    return this.reservations.reserve(parts, [...this.held, ...this.claiming], left);
  }

  /** Claims nothing more; tasks under way finish their block or give the rest back. */
  async drain(terms: GiveBack): Promise<void> {
    this.isStopping = true;
    this.bell.ring();
    await this.loop;
    const { held } = this;
    const underWay = giveBackAll(held, terms);
    // Small ones that were being accepted have begun since.
    await this.reservations.ended();
    const later = this.held.filter((one) => !held.includes(one));
    await Promise.all([underWay, giveBackAll(later, terms)]);
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const isWorthAnother = await this.round();
      if (!isWorthAnother) await this.bell.wait(Math.max(0, this.lookInMs));
    }
  }

  /** One round of claims. True: another round may claim more. */
  private async round(): Promise<boolean> {
    const { offered } = this;
    this.offered = [];
    // Parts just planned need no look, unless one is due or other notifications wait.
    const mustLook = this.hasWaiting || this.isLookDue || this.lookInMs <= 0;
    const hasWork = offered.length > 0 || this.small.size > 0;
    try {
      return await this.serve(hasWork && !mustLook ? offered : await this.look());
    } catch (error) {
      this.options.log.warn({ err: error }, 'nothing can be claimed; trying again');
      return false;
    }
  }

  /** Finds parts that can be claimed: returns the large ones, and keeps the small ones here. */
  private async look(): Promise<readonly Claimable[]> {
    const { store, clock } = this.options;
    this.freed = 0;
    this.isLookDue = false;
    this.lookedAtMs = clock.monotonicMs();
    const isSweep =
      this.small.size === 0 || this.lookedAtMs - this.sweptAtMs >= SMALL_POLL_INTERVAL_MS;
    if (isSweep) this.sweptAtMs = this.lookedAtMs;
    this.isLooking = true;
    const found = await listClaimable(store.sql, isSweep ? 'all' : 'large').finally(() => {
      this.isLooking = false;
    });
    for (const part of found) if (part.isSmall) this.small.add(part);
    return found.filter(({ isSmall }) => !isSmall);
  }

  private get lookInMs(): number {
    return this.lookedAtMs + POLL_INTERVAL_MS - this.options.clock.monotonicMs();
  }

  /** True: another round may claim more: some chosen parts were taken, or slots became free. */
  private async serve(large: readonly Claimable[]): Promise<boolean> {
    const { presence, slots, reservedSlots } = this.options;
    const { nodeId } = presence;
    // Other nodes might take parts away that it claims now, before it sends any of them.
    if (!presence.covers(nodeId)) return false;
    const small = this.small.candidates();
    const holders = [...this.held, ...this.reservations.holders];
    const served = this.fairShare.share<Claimable | SmallCandidate>(
      [...large, ...small],
      holders,
      slots - holders.length,
      reservedSlots,
    );
    const turns = served.filter((turn): turn is Claimable => !('isLot' in turn));
    const batches = this.takeBatches(
      served.filter((turn): turn is SmallCandidate => 'isLot' in turn),
    );
    this.claiming = served;
    const claimed = await this.claim(nodeId, turns, batches).finally(() => {
      this.claiming = [];
    });
    const waiting = this.withoutSlot(large);
    this.hasWaiting = waiting.length > 0;
    // Those that came during the claim have not been passed over: their turn is the next round.
    const all = [...waiting, ...this.withoutSlot(small.filter((one) => this.small.has(one)))];
    const chosen = new Set<Candidate>(served);
    this.makeRoomFor(
      claimed.slots === 0 ? all : all.filter((one) => !chosen.has(one) && this.isFirstUrgent(one)),
    );
    this.isLookDue =
      (claimed.turns > 0 && claimed.turns < turns.length) || this.isShareFree || this.isLookDue;
    return this.isLookDue || (this.small.size > 0 && claimed.batches < batches.length);
  }

  private takeBatches(turns: readonly SmallCandidate[]): readonly (readonly Claimable[])[] {
    if (turns.length === 0) return [];
    const wereFull = this.small.fullQueues().length > 0;
    const batches = [...new Set(turns)].flatMap((candidate) =>
      this.small.take(candidate, turns.filter((turn) => turn === candidate).length),
    );
    if (wereFull) this.options.onRoom();
    return batches;
  }

  private async claim(
    nodeId: number | null,
    turns: readonly Claimable[],
    batches: readonly (readonly Claimable[])[],
  ): Promise<ClaimedSlots> {
    const wanted = [...turns, ...batches.flat()];
    if (wanted.length === 0) return NOTHING_CLAIMED;
    const { leaseMs, clock } = this.options;
    const authorizations = this.authorizationsOf(wanted);
    const claimed = await claimTurns(wanted, {
      connection: this.connection,
      leaseMs,
      leaseStartedMs: clock.monotonicMs(),
      nodeId,
      mayTakeSuspect: !this.held.some((held) => held.isSuspect),
    });
    const slots = slotsOf(claimed, batches);
    for (const parts of slots) this.hold(parts, authorizations);
    const inBatches = slots.filter(({ isLot }) => isLot).length;
    return { slots: slots.length, batches: inBatches, turns: slots.length - inBatches };
  }

  /** One for each (app, platform). A task that waits for it reports its rejection. */
  private authorizationsOf(turns: readonly Scope[]): (scope: Scope) => Promise<ScopeAuthorization> {
    const authorizations = new Map<string, Promise<ScopeAuthorization>>();
    const authorizationOf = (scope: Scope): Promise<ScopeAuthorization> => {
      const key = scopeKeyOf(scope);
      const authorization =
        authorizations.get(key) ?? this.options.authorize(scope.appId, scope.platformId);
      authorizations.set(key, authorization);
      return authorization;
    };
    for (const turn of turns) authorizationOf(turn).catch(() => undefined);
    return authorizationOf;
  }

  private hold(
    { parts, isLot }: Slot,
    authorizationOf: (scope: Scope) => Promise<ScopeAuthorization>,
  ): void {
    const [first] = parts;
    if (first === undefined) return;
    const { notificationId, clientId, appId, platformId, terms } = partOf(first);
    const { isUrgent } = terms;
    const batch: Batch | null = isLot ? {} : null;
    const assignments = parts.map((part) =>
      this.options.start(part, authorizationOf(partOf(part)), batch),
    );
    const held: Held = {
      notificationId: isLot ? smallIdOf({ appId, platformId }, isUrgent) : notificationId,
      clientId,
      appId,
      platformId,
      isUrgent,
      parts,
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
    // One suspect at a time: the next need not wait for a sweep.
    if (held.isSuspect) {
      this.sweptAtMs = Number.NEGATIVE_INFINITY;
      this.isLookDue = true;
    }
    // The claim drops those that came to their end.
    if (held.isLot && held.isAskedToYield) {
      for (const part of held.parts) this.small.add(claimableAgain(part));
    }
    if (!held.isLot) {
      this.freed += 1;
      if (held.isAskedToYield || this.isRoomWorthALook) this.isLookDue = true;
    }
    this.wakeWaiting();
  }

  private wakeWaiting(): void {
    if (this.hasWaiting || this.isLookDue || this.small.size > 0) this.bell.ring();
  }

  private get isRoomWorthALook(): boolean {
    return this.isShareFree || this.held.length <= this.options.slots * BUSY_SHARE;
  }

  private get isShareFree(): boolean {
    return this.freed >= this.options.slots * FREED_SHARE;
  }

  private withoutSlot(claimable: readonly Candidate[]): readonly Candidate[] {
    const served = new Set(this.held.map(({ notificationId }) => notificationId));
    const waiting = new Map(
      claimable
        .filter(({ notificationId }) => !served.has(notificationId))
        .map((candidate) => [candidate.notificationId, candidate]),
    );
    return [...waiting.values()];
  }

  /** An urgent one whose scope has no urgent send under way. */
  private isFirstUrgent(candidate: Candidate): boolean {
    if (!candidate.isUrgent) return false;
    const key = scopeKeyOf(candidate);
    return !this.held.some((held) => held.isUrgent && scopeKeyOf(held) === key);
  }

  /** For each notification without a slot, the oldest holder yields, first one of its scope. */
  private makeRoomFor(waiting: readonly Candidate[]): void {
    let yielding = this.held.filter(({ isAskedToYield }) => isAskedToYield).length;
    for (const candidate of waiting) {
      if (yielding > 0) yielding -= 1;
      else this.askToYield(candidate);
    }
  }

  private askToYield(candidate: Candidate): void {
    const nowMs = this.options.clock.monotonicMs();
    const quantumMs = this.isFirstUrgent(candidate) ? 0 : QUANTUM_MS;
    const longest = this.held
      .filter(({ isAskedToYield, sinceMs }) => !isAskedToYield && nowMs - sinceMs >= quantumMs)
      .sort((a, b) => a.sinceMs - b.sinceMs);
    const scopeKey = scopeKeyOf(candidate);
    const held = longest.find((other) => scopeKeyOf(other) === scopeKey) ?? longest[0];
    if (held === undefined) return;
    held.isAskedToYield = true;
    for (const assignment of held.assignments) assignment.giveBack(MAKE_ROOM);
  }
}

async function giveBackAll(held: readonly Held[], terms: GiveBack): Promise<void> {
  const assignments = held.flatMap((one) => one.assignments);
  for (const assignment of assignments) assignment.giveBack(terms);
  await Promise.all(assignments.map(({ finished }) => finished));
}

interface ClaimedSlots {
  readonly slots: number;
  readonly batches: number;
  readonly turns: number;
}

const NOTHING_CLAIMED: ClaimedSlots = { slots: 0, batches: 0, turns: 0 };

/** The parts that share a slot: one part, or a batch of small ones. */
interface Slot {
  readonly parts: readonly Claimed[];
  readonly isLot: boolean;
}

/** The slots for claimed parts. A suspect (decision 39) gets one alone, even if it is small. */
function slotsOf(
  claimed: readonly Claimed[],
  batches: readonly (readonly Claimable[])[],
): readonly Slot[] {
  const batchOf = new Map(
    batches.flatMap((batch) => batch.map((part) => [notificationScopeKeyOf(part), batch] as const)),
  );
  const filled = new Map<readonly Claimable[], Claimed[]>();
  const alone: Slot[] = [];
  for (const part of claimed) {
    const batch = batchOf.get(notificationScopeKeyOf(partOf(part)));
    if (batch === undefined || isSuspect(part)) alone.push({ parts: [part], isLot: false });
    else {
      const parts = filled.get(batch);
      if (parts === undefined) filled.set(batch, [part]);
      else parts.push(part);
    }
  }
  return [...alone, ...[...filled.values()].map((parts) => ({ parts, isLot: true }))];
}

/** It has begun, so it goes on with those to send at once, scheduled or not. */
function claimableAgain(claimed: Claimed): Claimable {
  const { notificationId, clientId, appId, platformId, terms } = partOf(claimed);
  const { isUrgent, ratePerSecond } = terms;
  return {
    notificationId,
    clientId,
    appId,
    platformId,
    hasChunks: claimed.kind === 'chunk',
    hasRetries: claimed.kind === 'retries',
    isSmall: true,
    isScheduled: false,
    isUrgent,
    ratePerSecond,
  };
}

const partsOf = ({
  id,
  clientId,
  isScheduled,
  isUrgent,
  ratePerSecond,
  scopes,
}: PlannedNotification): readonly Claimable[] =>
  scopes.map(({ appId, platformId, chunks }) => ({
    appId,
    platformId,
    notificationId: id,
    clientId,
    hasChunks: true,
    hasRetries: false,
    isSmall: chunks === 1 && ratePerSecond === null,
    isScheduled,
    isUrgent,
    ratePerSecond,
  }));
