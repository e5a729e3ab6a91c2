/**
 * Takes a claimed part through its life on this node: the right to send, a worker, reports and
 * replies, and back to the ledger when the worker fails.
 */

import type { Logger } from 'pino';
import type { NotificationState } from '../../domain/notification.ts';
import type { Progress } from '../../domain/progress.ts';
import { faultSentence } from '../../providers/fault-sentence.ts';
import type { Clock } from '../../std/clock.ts';
import { failureText } from '../../std/failure-text.ts';
import type { JobJournal, PartTrace } from '../../telemetry/job-journal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { GiveBack, Task, Unfamiliar } from '../protocol/task.ts';
import { UnfamiliarReasons } from '../protocol/unfamiliar-reasons.ts';
import type { ClaimedChunk, ClaimedScope } from '../sql/ledger/claim-chunks.ts';
import type { NotificationOrders } from '../sql/ledger/read-orders.ts';
import type { Audiences } from './audiences.ts';
import type { Authorizer, ScopeAuthorization } from './authorizer.ts';
import type { Claimed } from './claimed.ts';
import { deadlinesOfClaimed, doubted, partOf, releaseOf, taskOf } from './claimed.ts';
import type { LeftOut } from './left-out.ts';
import type { Named } from './named.ts';
import type { Pacer } from './pacer.ts';
import {
  devicesParkedBy,
  isCountHopeless,
  isHopeless,
  lastFailureOf,
  parkingOf,
} from './parking.ts';
import type { Payloads } from './payloads.ts';
import type { QuotaLeaser } from './quota-leaser.ts';
import type { Batch, RunningTask, TaskEvents, WorkerPool } from './worker-pool.ts';

/**
 * A database or an OAuth server that is down needs seconds, not more.
 * @limit a task that failed by a fault of the engine is claimed again after
 */
const TRY_AGAIN_MS = 5_000;
/** Claimed again with the end and rate that the notification has now; nothing goes twice. */
const CLAIM_AGAIN: GiveBack = { withinMs: 0, answersWithinMs: null };

export interface DispatcherOptions {
  readonly ledger: Ledger;
  readonly pool: Pick<WorkerPool, 'run'>;
  readonly authorizer: Authorizer;
  readonly audiences: Pick<Audiences, 'of'>;
  readonly payloads: Pick<Payloads, 'of'>;
  readonly leftOut: Pick<LeftOut, 'of'>;
  readonly named: Pick<Named, 'of'>;
  readonly quotas: Pick<QuotaLeaser, 'join'>;
  readonly pacer: Pick<Pacer, 'join'>;
  readonly leaseMs: number;
  readonly countUndone: (chunk: ClaimedChunk) => Promise<number>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly journal: Pick<JobJournal, 'beginPart'>;
}

/** The parts of this node by their kind, for the metrics. */
export interface PartsReading {
  readonly claimed: Readonly<Record<Claimed['kind'], number>>;
  readonly underWay: Readonly<Record<Claimed['kind'], number>>;
}

export interface Assignment {
  /** Never rejects. */
  readonly finished: Promise<void>;
  /** Asks the task to stop and to give its rest back. */
  giveBack(terms: GiveBack): void;
}

export class Dispatcher {
  private readonly options: DispatcherOptions;
  private readonly unfamiliarReasons = new UnfamiliarReasons();
  /** Not a Set: its old tables would keep what came and went (decision 35). */
  private readonly runs: Run[] = [];
  /** Since the start. */
  private readonly claimed = { chunk: 0, retries: 0 };

  constructor(options: DispatcherOptions) {
    this.options = options;
  }

  /** The notifications of what has been under way for so long, each once. */
  underWayFor(ms: number): readonly string[] {
    const sinceMs = this.options.clock.monotonicMs() - ms;
    const old = this.runs.filter(({ startedMs }) => startedMs <= sinceMs);
    return [...new Set(old.map(({ notificationId }) => notificationId))];
  }

  /** Passes on what was ordered of these notifications meanwhile. */
  tell(orders: readonly NotificationOrders[]): void {
    const byId = new Map(orders.map((order) => [order.notificationId, order]));
    for (const run of this.runs) {
      const order = byId.get(run.notificationId);
      if (order !== undefined) run.obey(order);
    }
  }

  /** `right`: permits sending, perhaps requested already. `batch`: goes together; null: alone. */
  start(
    claimed: Claimed,
    authorization: Promise<ScopeAuthorization>,
    batch: Batch | null = null,
  ): Assignment {
    const run = new Run(this.options, claimed, authorization, batch, this.unfamiliarReasons);
    run.place = this.runs.push(run) - 1;
    this.claimed[claimed.kind] += 1;
    const finished = run.toEnd().finally(() => {
      this.remove(run);
      run.endTrace();
    });
    return { finished, giveBack: (terms) => run.giveBack(terms) };
  }

  get reading(): PartsReading {
    const underWay = { chunk: 0, retries: 0 };
    for (const { kind } of this.runs) underWay[kind] += 1;
    return { claimed: { ...this.claimed }, underWay };
  }

  /** The last one takes its place: thousands of small parts are under way at once. */
  private remove(run: Run): void {
    const last = this.runs.pop();
    if (last === undefined || last === run) return;
    this.runs[run.place] = last;
    last.place = run.place;
  }
}

class Run {
  /** Among what is under way. */
  place = 0;
  readonly startedMs: number;
  private readonly options: DispatcherOptions;
  private readonly claimed: Claimed;
  private readonly authorization: Promise<ScopeAuthorization>;
  private readonly batch: Batch | null;
  private readonly unfamiliarReasons: UnfamiliarReasons;
  private running: RunningTask | null = null;
  /** The last request to give back; it may come before a worker has the task. */
  private asked: GiveBack | null = null;
  /** The state as the worker knows it, or will know it. */
  private state: NotificationState;
  private isOutdated = false;
  private recording: Promise<unknown> = Promise.resolve();
  private failure: string | null = null;
  /** Null: it is not traced. */
  private readonly trace: PartTrace | null;

  constructor(
    options: DispatcherOptions,
    claimed: Claimed,
    authorization: Promise<ScopeAuthorization>,
    batch: Batch | null,
    unfamiliarReasons: UnfamiliarReasons,
  ) {
    this.startedMs = options.clock.monotonicMs();
    this.options = options;
    this.claimed = claimed;
    this.state = partOf(claimed).state;
    this.authorization = authorization;
    this.batch = batch;
    this.unfamiliarReasons = unfamiliarReasons;
    const { notificationId, appId, platformId } = partOf(claimed);
    this.trace = options.journal.beginPart(notificationId, {
      'tagcast.part': claimed.kind === 'chunk' ? `group ${claimed.chunk.groupNumber}` : 'retries',
      'tagcast.app_id': appId,
      'tagcast.platform_id': platformId,
    });
  }

  async toEnd(): Promise<void> {
    const { log, ledger } = this.options;
    try {
      if (isHopeless(this.claimed)) return await this.park();
      const task = await this.prepare();
      if (task === null) await ledger.record(this.release(null));
      else await this.work(task);
    } catch (error) {
      log.error({ err: error, notificationId: this.notificationId }, 'a part of a send has failed');
      await this.recording;
      this.failure ??= failureText(error);
    }
    if (this.failure === null || this.mayHaveSentInVain) return;
    await ledger.record(this.release(this.failure));
  }

  endTrace(): void {
    this.trace?.end(this.failure);
  }

  private release(failure: string | null): Progress {
    const release = releaseOf(this.claimed, TRY_AGAIN_MS, this.options.clock.nowMs(), failure);
    // A worker that had it may have sent since its last report.
    const mayHaveSent = failure !== null && this.running !== null;
    return mayHaveSent ? doubted(release) : release;
  }

  /** Parks the part: its devices count as failed, unsent, and it waits for an operator. */
  private async park(): Promise<void> {
    const { log, ledger, clock } = this.options;
    const { claimed } = this;
    const left = await this.countLeft();
    const report = parkingOf(claimed, left, clock.nowMs());
    const reply = await ledger.record(report);
    if (reply.kind !== 'recorded') return;
    const { notificationId, appId, platformId } = report;
    const part = claimed.kind === 'chunk' ? `group ${claimed.chunk.groupNumber}` : 'retries';
    const devices = devicesParkedBy(report);
    const failure = lastFailureOf(claimed);
    log.error(
      { notificationId, appId, platformId, part, devices, failure },
      'a part of a send is parked after claims without progress: its devices count as failed; `tagcast parked release <job-id>` sends it again',
    );
  }

  /** Counts the devices left; 0 where each try fails, so that the job ends all the same. */
  private async countLeft(): Promise<number> {
    const { claimed } = this;
    if (claimed.kind !== 'chunk') return 0;
    try {
      return await this.options.countUndone(claimed.chunk);
    } catch (error) {
      if (!isCountHopeless(claimed)) throw error;
      const { notificationId } = this;
      this.options.log.error({ err: error, notificationId }, 'a parked part cannot be counted');
      return 0;
    }
  }

  /** At most once, leases end by themselves: the next claim sees that retries were lost. */
  private get mayHaveSentInVain(): boolean {
    const { kind } = this.claimed;
    return kind === 'retries' && this.running !== null && partOf(this.claimed).terms.isAtMostOnce;
  }

  giveBack(terms: GiveBack): void {
    this.asked = terms;
    this.running?.say({ kind: 'give-back', ...terms });
  }

  obey({ state, expiresAtMs, isPaced }: NotificationOrders): void {
    const part = partOf(this.claimed);
    const isOutdated = expiresAtMs !== part.expiresAtMs || isPaced !== isHeldToRate(part);
    if (isOutdated && !this.isOutdated) {
      this.isOutdated = true;
      this.giveBack(CLAIM_AGAIN);
    }
    if (state === this.state) return;
    this.state = state;
    this.running?.say({ kind: 'state', state });
  }

  get kind(): Claimed['kind'] {
    return this.claimed.kind;
  }

  get notificationId(): string {
    return partOf(this.claimed).notificationId;
  }

  /** The task for a worker. Null: there is no right to send at the moment. */
  private async prepare(): Promise<Task | null> {
    const { leaseMs, clock, log, audiences, payloads, leftOut, named } = this.options;
    const { appId, platformId, state, fault } = partOf(this.claimed);
    const found = audiences.of(partOf(this.claimed));
    const audience = found instanceof Promise ? await found : found;
    const made = payloads.of(partOf(this.claimed));
    const payload = made instanceof Promise ? await made : made;
    const left = leftOut.of(this.claimed);
    const those = named.of(this.claimed);
    const content = {
      audience,
      payload,
      leftOut: left instanceof Promise ? await left : left,
      named: those instanceof Promise ? await those : those,
    };
    const { sendUntilMs, expires } = deadlinesOfClaimed(this.claimed);
    const task = (authorization: Pick<Task, 'authorized' | 'fault'>): Task =>
      taskOf(this.claimed, content, leaseMs, {
        ...authorization,
        ...(this.trace === null ? {} : { isTraced: true }),
      });
    if (state === 'CANCELLED' || fault !== null) return task({ authorized: null, fault });
    const authorization = await this.authorization;
    switch (authorization.kind) {
      case 'granted':
        return task({ authorized: authorization.authorized, fault: null });
      case 'fault':
        return task({ authorized: null, fault: authorization.reason });
      case 'later':
        log.warn(
          { appId, platformId, reason: authorization.reason },
          'no authorization for a provider',
        );
        if (clock.nowMs() < sendUntilMs) return null;
        return task({ authorized: null, fault: expires ? null : authorization.reason });
    }
  }

  private async work(task: Task): Promise<void> {
    const { pool, quotas, pacer } = this.options;
    const member =
      task.authorized === null
        ? null
        : quotas.join(task.authorized.credential, (answer) =>
            this.running?.say({ kind: 'quota', answer }),
          );
    const paced = isHeldToRate(partOf(this.claimed))
      ? pacer.join(partOf(this.claimed), (span) => this.running?.say({ kind: 'pace', span }))
      : null;
    try {
      const events: TaskEvents = {
        reported: (progress) => {
          this.recording = this.record(progress);
        },
        authorizationExpired: (expired) => void this.renew(task, expired),
        tooManyTokens: () => void this.freeze(task),
        credentialRefused: (reason) => void this.fallBack(task, reason),
        unfamiliar: (answer) => this.tell(task, answer),
        step: (step) => this.trace?.tell(step),
        quota: member === null ? null : (message) => member.hear(message),
        pace: paced === null ? null : (message) => paced.hear(message),
      };
      const running = pool.run(task, events, this.batch);
      this.running = running;
      if (this.asked !== null) this.giveBack(this.asked);
      const { state } = this;
      if (state !== partOf(this.claimed).state) running.say({ kind: 'state', state });
      await running.finished;
    } finally {
      member?.leave();
      paced?.leave();
    }
  }

  private async record(progress: Progress): Promise<void> {
    const { ledger, log } = this.options;
    if (progress.fault !== null) {
      const { notificationId, appId, platformId, fault } = progress;
      const meaning = faultSentence(fault);
      log.warn({ notificationId, appId, platformId, fault, meaning }, 'a fault stops a send');
    }
    const startMs = Date.now();
    const reply = await ledger.record(progress);
    const attributes = { 'tagcast.sends': progress.sends, 'tagcast.reply': reply.kind };
    this.trace?.tell({ name: 'record', startMs, endMs: Date.now(), attributes });
    if (reply.kind === 'refused') this.failure = reply.reason;
    this.running?.say({ kind: 'reply', reply });
  }

  /** Logs a reason once in the life of the process, for all threads and tasks. */
  private tell({ platformId }: Task, { status, reason }: Unfamiliar): void {
    if (!this.unfamiliarReasons.isNew(platformId, status, reason)) return;
    const text = 'a provider gave a reason that is in no documentation: its status decided';
    this.options.log.warn({ platformId, status, reason }, text);
  }

  private async renew(task: Task, expired: string): Promise<void> {
    const { authorizer, log } = this.options;
    try {
      const authorization = await authorizer.renew(task.appId, task.platformId, expired);
      // Without a new one it gets the old one, and asks again at the next refusal.
      this.running?.say({ kind: 'authorize', authorization: authorization ?? expired });
    } catch (error) {
      log.error({ err: error, appId: task.appId }, 'an authorization could not be renewed');
    }
  }

  private async fallBack({ appId, platformId, authorized }: Task, reason: string): Promise<void> {
    const { authorizer, log } = this.options;
    if (authorized === null) return;
    try {
      await authorizer.refused(appId, platformId, authorized.credential, reason);
    } catch (error) {
      log.error({ err: error, appId, platformId }, 'a refused credential could not be replaced');
    }
  }

  private async freeze({ appId, platformId }: Task): Promise<void> {
    const { authorizer, log } = this.options;
    log.warn(
      { appId, platformId },
      'a provider received too many tokens: no new one is signed for a while',
    );
    try {
      await authorizer.freeze(appId, platformId);
    } catch (error) {
      log.error({ err: error, appId, platformId }, 'the tokens of a key could not be frozen');
    }
  }
}

const isHeldToRate = ({ terms }: ClaimedScope): boolean => terms.ratePerSecond !== null;
