/** A sender that a test scripts, a clock that it turns, and what a runner needs around them. */

import { pino } from 'pino';
import type { ApnsEnvironment } from '../../src/domain/device.ts';
import type { Payload } from '../../src/domain/notification.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import { DELIVERED } from '../../src/domain/outcome.ts';
import type { ChunkProgress, Progress, RetryProgress } from '../../src/domain/progress.ts';
import { providerOn } from '../../src/providers/providers.ts';
import type { Sender } from '../../src/providers/sender.ts';
import type { Reply } from '../../src/push/ledger/reply.ts';
import { Presence } from '../../src/push/protocol/presence.ts';
import type { ChunkTask, RetryTask, Unfamiliar } from '../../src/push/protocol/task.ts';
import { CircuitBreaker } from '../../src/push/worker/circuit-breaker.ts';
import { FairQueue } from '../../src/push/worker/fair-queue.ts';
import { Lease } from '../../src/push/worker/lease.ts';
import type { RunContext } from '../../src/push/worker/run-context.ts';
import { BudgetShare, SendBudget } from '../../src/push/worker/send-budget.ts';
import { TaskControl } from '../../src/push/worker/task-control.ts';
import type { Clock } from '../../src/std/clock.ts';
import type { DeviceCount } from '../../src/tag-index/sample.ts';
import type {
  DeviceHistories,
  DeviceRun,
  PresentDevices,
  TagIndex,
} from '../../src/tag-index/tag-index.ts';
import type { Rendered, Settle } from '../../src/transport/transport.ts';
import { DEFAULT_ORIGINS } from './default-origins.ts';

export class ManualClock implements Clock {
  private epochMs = 1_700_000_000_000;
  private upMs = 5_000;

  nowMs(): number {
    return this.epochMs;
  }

  monotonicMs(): number {
    return this.upMs;
  }

  pass(ms: number): void {
    this.epochMs += ms;
    this.upMs += ms;
  }
}

/** Answers every send from its script, in the next turn; or when the test says so. */
export class ScriptedSender implements Sender {
  /** Every deviceId handed over, in order. */
  readonly sent: string[] = [];
  /** Beside each: where the token is said to be of. */
  readonly environments: (ApnsEnvironment | null)[] = [];
  readonly authorizations: string[] = [];
  capacityMax: number;
  /** Decides the outcome of a send; null: it stays under way until `answer`. */
  script: (deviceId: string, count: number) => Outcome | null;
  private underWay = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly open: { readonly position: number; readonly settle: Settle }[] = [];

  constructor(
    script: (deviceId: string, count: number) => Outcome | null = () => DELIVERED,
    capacityMax = 100,
  ) {
    this.script = script;
    this.capacityMax = capacityMax;
  }

  render(): Rendered {
    return { payloadBytes: 100 };
  }

  get capacity(): number {
    return this.capacityMax - this.underWay;
  }

  whenReady(): Promise<void> {
    if (this.capacity > 0) return Promise.resolve();
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  warm(): void {
    // Nothing to connect to.
  }

  send(
    _rendered: Rendered,
    deviceId: string,
    position: number,
    settle: Settle,
    environment: ApnsEnvironment | null = null,
  ): void {
    this.sent.push(deviceId);
    this.environments.push(environment);
    this.underWay += 1;
    const outcome = this.script(deviceId, this.sent.length);
    if (outcome === null) this.open.push({ position, settle });
    else setImmediate(() => this.settle(position, outcome, settle));
  }

  /** Answers the sends that were left under way. */
  answer(outcome: Outcome): void {
    for (const { position, settle } of this.open.splice(0)) this.settle(position, outcome, settle);
  }

  authorize(authorization: string): void {
    this.authorizations.push(authorization);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  private settle(position: number, outcome: Outcome, settle: Settle): void {
    this.underWay -= 1;
    settle(position, outcome);
    for (const resume of this.waiting.splice(0)) resume();
  }
}

/** Devices `device-<offset>` at the given offsets, for every question. */
export class ScriptedTagIndex implements TagIndex {
  private readonly run: DeviceRun;

  constructor(offsets: readonly number[], histories: DeviceHistories, endOffset?: number) {
    this.run = {
      ...(endOffset === undefined ? {} : { endOffset }),
      offsets: Uint16Array.from(offsets),
      deviceIds: offsets.map((offset) => `device-${offset}`),
      histories,
    };
  }

  resolve(): Promise<DeviceRun> {
    return Promise.resolve(this.run);
  }

  recheck(_scope: unknown, ordinals: readonly number[]): Promise<PresentDevices> {
    const here = new Set(this.run.offsets);
    const present = ordinals.filter((ordinal) => here.has(ordinal));
    const deviceIds = new Map(present.map((ordinal) => [ordinal, `device-${ordinal}`]));
    return Promise.resolve({ deviceIds, histories: this.run.histories });
  }

  count(): Promise<DeviceCount> {
    return Promise.resolve({ count: this.run.offsets.length, isProjected: false });
  }

  occupiedGroups(): Promise<null> {
    return Promise.resolve(null);
  }
}

export interface Scene {
  readonly clock: ManualClock;
  readonly sender: ScriptedSender;
  readonly control: TaskControl;
  /** The presence of the node; a task whose claim names no node has none. */
  readonly presence: Presence;
  readonly breaker: CircuitBreaker;
  readonly budget: SendBudget;
  readonly reports: Progress[];
  readonly renewalsAsked: { count: number };
  readonly freezesAsked: { count: number };
  /** Whether the authorization was signed later than now. */
  readonly ahead: { is: boolean };
  /** Reasons for which a credential was refused that another one replaces. */
  readonly refusals: string[];
  readonly unfamiliar: readonly Unfamiliar[];
  readonly context: RunContext;
}

export const LEASE_MS = 30_000;

/** Everything around a runner. `reply`: the ledger's answer to each report; default: recorded. */
export function sceneOf(
  task: ChunkTask | RetryTask,
  options: {
    readonly offsets: readonly number[];
    readonly histories?: DeviceHistories;
    readonly endOffset?: number;
    readonly sender?: ScriptedSender;
    readonly budgetMax?: number;
    readonly reply?: (progress: Progress, clock: Clock) => Promise<Reply> | Reply;
  },
): Scene {
  const clock = new ManualClock();
  const sender = options.sender ?? new ScriptedSender();
  const control = new TaskControl(task);
  const presence = new Presence(clock);
  const breaker = new CircuitBreaker(clock);
  const budget = new SendBudget(options.budgetMax);
  const reports: Progress[] = [];
  const renewalsAsked = { count: 0 };
  const freezesAsked = { count: 0 };
  const ahead = { is: false };
  const refusals: string[] = [];
  const unfamiliar: Unfamiliar[] = [];
  const provider = providerOn(task.platformId);
  const context: RunContext = {
    step: null,
    tagIndex: new ScriptedTagIndex(
      options.offsets,
      options.histories ?? new Map(),
      options.endOffset,
    ),
    sender: task.authorized === null ? null : sender,
    fairQueue: task.authorized === null ? null : new FairQueue(sender, clock),
    breaker,
    permits: null,
    pace: null,
    share: new BudgetShare(budget, { used: 0 }),
    lease: new Lease(clock, clock.monotonicMs(), LEASE_MS, () => presence.covers(task.nodeId)),
    control,
    clock,
    log: pino({ level: 'silent' }),
    report(progress) {
      reports.push(progress);
      return Promise.resolve(options.reply?.(progress, clock) ?? recorded(clock));
    },
    takePlaces: ({ wanted }) => Promise.resolve(wanted),
    authorizationExpired: () => {
      renewalsAsked.count += 1;
    },
    isAuthorizationAhead: () => ahead.is,
    credentialRefused: (reason) => {
      refusals.push(reason);
      control.giveBack(clock.monotonicMs(), null);
    },
    tooManyTokens: () => {
      freezesAsked.count += 1;
    },
    unfamiliar: (answer) => unfamiliar.push(answer),
    provider,
    retryPolicy: provider.retryPolicy({ ...DEFAULT_ORIGINS, apnsRetryMs: 2_000 }),
  };
  return {
    clock,
    sender,
    control,
    presence,
    breaker,
    budget,
    reports,
    renewalsAsked,
    freezesAsked,
    ahead,
    refusals,
    unfamiliar,
    context,
  };
}

export const recorded = (clock: Clock): Reply => ({
  kind: 'recorded',
  sentAtMs: clock.monotonicMs(),
  state: 'RUNNING',
  fault: null,
  hasDelivered: false,
});

const PAYLOAD: Payload = { title: 'goal!', data: {} };
const AUTHORIZED = {
  authorization: 'bearer one',
  credential: {
    kind: 'apns',
    teamId: 'TEAM123456',
    keyId: 'KEY1234567',
    privateKey: '',
    bundleId: 'com.example.news',
    environment: 'production',
  },
} as const;

const SHARED = {
  message: {
    notificationId: '019a0000-0000-7000-8000-000000000000',
    payload: PAYLOAD,
    expiresAtMs: null,
    dueAtMs: 1_700_000_000_000,
  },
  appId: 1,
  platformId: 3,
  audience: { anyTagIds: [1], allTagIds: [], noneTagIds: [] },
  sendUntilMs: 1_700_000_000_000 + 3_600_000,
  retryUntilMs: 1_700_000_000_000 + 3_600_000,
  expires: false,
  claimedAtMs: 1_699_999_999_000,
  leaseStartedMs: 5_000,
  leaseMs: LEASE_MS,
  nodeId: null,
  isCancelled: false,
  isAtMostOnce: false,
  isUrgent: false,
  ratePerSecond: null,
  pauseAfter: null,
  hasDelivered: false,
  isAlone: false,
  caps: null,
  fault: null,
  authorized: AUTHORIZED,
} as const;

export const chunkTask = (more: Partial<ChunkTask> = {}): ChunkTask => ({
  ...SHARED,
  kind: 'chunk',
  groupNumber: 0,
  epoch: 1,
  doneBlocks: 0n,
  startedBlocks: 0n,
  ordinalEnd: 8_192,
  groupVersion: 1,
  isDoubted: false,
  ...more,
});

export const retryTask = (
  ordinals: readonly number[],
  more: Partial<RetryTask> = {},
): RetryTask => ({
  ...SHARED,
  kind: 'retries',
  ordinals,
  epochs: ordinals.map(() => 1),
  attempts: ordinals.map(() => 1),
  wereLost: ordinals.map(() => false),
  ...more,
});

/** The same task, expiring. */
export const expiring = (expiresAtMs: number) => ({
  message: { ...SHARED.message, expiresAtMs },
  sendUntilMs: expiresAtMs,
  retryUntilMs: expiresAtMs,
  expires: true,
});

/** All chunk reports of a scene added up, as the ledger would. */
export function sumOf(reports: readonly Progress[]) {
  const chunks = reports.filter((report): report is ChunkProgress => report.kind === 'chunk');
  const sum = { total: 0, delivered: 0, failed: 0, skipped: 0, expired: 0, cancelled: 0 };
  const reasons: Record<string, number> = {};
  let blocks = 0n;
  for (const chunk of chunks) {
    if ((blocks & BigInt.asUintN(64, chunk.blocks)) !== 0n)
      throw new Error('a block was reported twice');
    blocks |= BigInt.asUintN(64, chunk.blocks);
    for (const name of [
      'total',
      'delivered',
      'failed',
      'skipped',
      'expired',
      'cancelled',
    ] as const) {
      sum[name] += chunk.counts[name];
    }
    for (const [reason, count] of chunk.reasons) reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  return {
    ...sum,
    reasons,
    blocks,
    isComplete: BigInt.asIntN(64, blocks) === -1n,
    retries: chunks.flatMap(({ retries }) => retries),
    observations: chunks.flatMap(({ observations }) => observations),
    fault: chunks.find(({ fault }) => fault !== null)?.fault ?? null,
    releaseAfterMs: chunks.at(-1)?.releaseAfterMs ?? null,
  };
}

/** All settlements of a scene. */
export const settlementsOf = (reports: readonly Progress[]) =>
  reports
    .filter((report): report is RetryProgress => report.kind === 'retries')
    .flatMap(({ settlements }) => settlements);
