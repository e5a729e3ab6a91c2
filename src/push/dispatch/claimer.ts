/**
 * Keeps the workers' slots filled from the ledger, fairly. It claims what was planned here at once, and looks when slots have become
 * free and every 250 ms, which is how it learns of other nodes' work, retries that are due and leases that have
 * ended. (LISTEN would save at most that much, and the embedded database has none.)
 */

import type { Logger } from 'pino';
import type { PlatformOfApp } from '../../domain/device.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import { Bell } from '../../std/bell.ts';
import type { Clock } from '../../std/clock.ts';
import type { Claimable } from '../../store/ledger/list-claimable.ts';
import { listClaimable } from '../../store/ledger/list-claimable.ts';
import type { PlannedNotification } from '../../store/notifications/plan-due.ts';
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

const POLL_INTERVAL_MS = 250;
/** Parts that are remembered from one round to the next; what is beyond is found by a look. */
const OFFERED_MAX = 1_000;
/**
 * A task may hold its slot for so long while a notification has none at all: then it gives the rest back. With the answers that it
 * waits for then, the other one begins within a second.
 */
const QUANTUM_MS = 500;
/** A task that makes room may go on to the end of its block, and waits for its answers: it must not send twice for that. */
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
  readonly start: (claimed: Claimed, right: Promise<Right>) => Assignment;
}

/**
 * While nobody waits for a slot, those that become free are filled together: a quarter of them, or when no more than a third is busy.
 * The rest has some hundred milliseconds of work, and a look at the ledger costs as much for one slot as for ten.
 */
const FREED_SHARE = 1 / 4;
const BUSY_SHARE = 1 / 3;

interface Held extends Candidate {
  readonly assignment: Assignment;
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
  /** Parts planned since the last round. */
  private offered: readonly Claimable[] = [];
  private lookedAtMs = 0;
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
    this.offered = [...this.offered, ...planned.flatMap(partsOf)].slice(0, OFFERED_MAX);
    this.bell.ring();
  }

  /** Claims nothing more; what is under way finishes its block or gives back. */
  async drain(terms: GiveBack): Promise<void> {
    this.isStopping = true;
    this.bell.ring();
    await this.loop;
    for (const { assignment } of this.held) assignment.giveBack(terms);
    await Promise.all(this.held.map(({ assignment }) => assignment.finished));
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      const isWorthAnother = await this.round();
      if (!isWorthAnother) await this.bell.wait(Math.max(0, this.lookInMs));
    }
  }

  /** Whether another one may claim more. */
  private async round(): Promise<boolean> {
    const offered = this.takeOffered();
    try {
      if (offered.length > 0) return await this.serve(offered);
      this.freed = 0;
      this.lookedAtMs = this.options.clock.monotonicMs();
      return await this.serve(await listClaimable(this.options.sql));
    } catch (error) {
      this.options.log.warn({ err: error }, 'nothing can be claimed; trying again');
      return false;
    }
  }

  /** What was planned this moment need not be looked for, unless it is time to look, or others wait who must not be passed over. */
  private takeOffered(): readonly Claimable[] {
    const { offered } = this;
    this.offered = [];
    return this.hasWaiting || this.lookInMs <= 0 ? [] : offered;
  }

  /** Until the next look that comes in any case. */
  private get lookInMs(): number {
    return this.lookedAtMs + POLL_INTERVAL_MS - this.options.clock.monotonicMs();
  }

  /**
   * Shares the free slots out. Whether another round may claim more: not all that was shared out was there, or slots have become free
   * meanwhile.
   */
  private async serve(claimable: readonly Claimable[]): Promise<boolean> {
    const free = this.options.slots - this.held.length;
    const turns = this.allotment.share(claimable, this.held, free);
    const claimed = turns.length > 0 ? await this.claim(turns) : 0;
    const waiting = this.withoutSlot(claimable);
    this.hasWaiting = waiting.length > 0;
    if (claimed === 0) this.makeRoomFor(waiting);
    return (claimed > 0 && claimed < turns.length) || this.isShareFree;
  }

  private async claim(turns: readonly Claimable[]): Promise<number> {
    const { sql, leaseMs, clock, presence } = this.options;
    const { nodeId } = presence;
    // What it claims now might be taken away before any of it is sent.
    if (!presence.covers(nodeId)) return 0;
    const rights = this.rightsOf(turns);
    const { claimed, errors } = await claimTurns(turns, {
      sql,
      leaseMs,
      leaseStartedMs: clock.monotonicMs(),
      nodeId,
      mayTakeSuspect: !this.held.some((held) => held.isSuspect),
    });
    for (const part of claimed) this.hold(part, rights(scopeOf(part)));
    if (errors.length > 0) throw errors[0];
    return claimed.length;
  }

  /** Of each (app, platform) one. That it cannot be had is told by whoever waits for it; when nothing could be claimed nobody needs it. */
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

  private hold(claimed: Claimed, right: Promise<Right>): void {
    const { notificationId, clientId, appId, platformId } = scopeOf(claimed);
    const assignment = this.options.start(claimed, right);
    const sinceMs = this.options.clock.monotonicMs();
    const held: Held = {
      notificationId,
      clientId,
      appId,
      platformId,
      assignment,
      sinceMs,
      isSuspect: isSuspect(claimed),
      isAskedToYield: false,
    };
    this.held = [...this.held, held];
    void assignment.finished.then(() => {
      this.held = this.held.filter((other) => other !== held);
      this.freed += 1;
      if (this.hasWaiting || held.isAskedToYield || this.isRoomWorthALook) this.bell.ring();
    });
  }

  private get isRoomWorthALook(): boolean {
    return this.isShareFree || this.held.length <= this.options.slots * BUSY_SHARE;
  }

  private get isShareFree(): boolean {
    return this.freed >= this.options.slots * FREED_SHARE;
  }

  /** One candidate for each notification that holds no slot. */
  private withoutSlot(claimable: readonly Claimable[]): readonly Candidate[] {
    const served = new Set(this.held.map(({ notificationId }) => notificationId));
    const waiting = new Map(
      claimable
        .filter(({ notificationId }) => !served.has(notificationId))
        .map((candidate) => [candidate.notificationId, candidate]),
    );
    return [...waiting.values()];
  }

  /**
   * Nothing more may be claimed. For each notification that has no slot, the one that holds its slot for longest yields: of the
   * same scope, if there is one, for it may be that scope's share that is used up.
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
    held.assignment.giveBack(MAKE_ROOM);
  }
}

const partsOf = ({ id, clientId, scopes }: PlannedNotification): readonly Claimable[] =>
  scopes.map((scope) => ({
    ...scope,
    notificationId: id,
    clientId,
    hasChunks: true,
    hasRetries: false,
  }));
