/** A worker thread: resolves, renders, sends, reports. It keeps its connections for its life. */

import { parentPort, threadId } from 'node:worker_threads';
import { pack } from 'msgpackr';
import { workerData } from 'piscina';
import { CONNECTIONS_PER_WORKER } from '../../database/connections.ts';
import { connect } from '../../database/sql.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import { PROVIDER_KINDS, providerOn } from '../../providers/providers.ts';
import { systemClock } from '../../std/clock.ts';
import { failureText } from '../../std/failure-text.ts';
import { tellThreadVitals } from '../../std/thread-vitals.ts';
import { ResolveMeter } from '../../tag-index/resolve-meter.ts';
import { SqlTagIndex } from '../../tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import { createLogger } from '../../telemetry/log.ts';
import { TransportMeter } from '../../transport/transport-meter.ts';
import type { Reply } from '../ledger/reply.ts';
import type { BroadcastMessage } from '../protocol/broadcast.ts';
import { openBroadcast } from '../protocol/broadcast.ts';
import { Outbox } from '../protocol/outbox.ts';
import { Pace } from '../protocol/pace.ts';
import { Permits } from '../protocol/permits.ts';
import { Presence } from '../protocol/presence.ts';
import type {
  GiveBack,
  MessageBatch,
  MessageFromTask,
  MessageToTask,
  PostedBatch,
  Task,
  WorkerReadings,
  WorkerSettings,
} from '../protocol/task.ts';
import { UnfamiliarReasons } from '../protocol/unfamiliar-reasons.ts';
import type { WantedPlaces } from '../sql/ledger/take-places.ts';
import { takePlaces } from '../sql/ledger/take-places.ts';
import { runChunk } from './chunk/chunk-runner.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { inTurn } from './in-turn.ts';
import { Lease } from './lease.ts';
import { ResolveLimiter } from './resolve-limiter.ts';
import { runRetries } from './retry/retry-runner.ts';
import type { RunContext } from './run-context.ts';
import { BudgetShare, SendBudget } from './send-budget.ts';
import type { CachedSender } from './sender-cache.ts';
import { SenderCache } from './sender-cache.ts';
import { TaskControl } from './task-control.ts';

const settings = workerData as WorkerSettings;
const clock = systemClock;
const presence = new Presence(clock, settings.presence);
const log = createLogger(settings.logLevel, 'worker');
const sql = connect(settings.address, CONNECTIONS_PER_WORKER);
// The other connection is left to find devices.
const takePlacesInTurn = inTurn((asked: WantedPlaces) => takePlaces(sql, asked));
const resolveMeter = new ResolveMeter();
const tagIndex = await openTagIndex();
const { origins, transport, limits } = settings;
const meters = new Map(PROVIDER_KINDS.map((kind) => [kind, new TransportMeter()]));
const senders = new SenderCache(
  { origins, transport, limits, meters, onBreakerSwitched: tellBreaker },
  clock,
);
const broadcast = openBroadcast(settings.broadcast, hear);
const budget = new SendBudget();
const unfamiliarReasons = new UnfamiliarReasons();
tellThreadVitals((vitals) =>
  parentPort?.postMessage({
    threadId,
    vitals,
    transports: [...meters].map(([kind, meter]) => [kind, meter.take()]),
    resolved: resolveMeter.take(),
  } satisfies WorkerReadings),
);

/** Loads the Redis client only where a Redis is configured: each thread loads its own code. */
async function openTagIndex(): Promise<TagIndex> {
  if (settings.redis === null) return new SqlTagIndex(sql, resolveMeter);
  const { openIndexReader } = await import('../../tag-index/redis/open.ts');
  return openIndexReader(settings.redis, sql, log, resolveMeter);
}

/** Piscina's task: resolves when the last report of each task is answered. */
export async function runBatch({ tasks, port, isMetered }: PostedBatch): Promise<void> {
  const outbox = new Outbox<MessageFromTask>((messages) => port.postMessage(messages));
  const heard: ((message: MessageToTask) => void)[] = [];
  port.on('message', (messages: MessageBatch<MessageToTask>) => {
    for (const [place, message] of messages) heard[place]?.(message);
  });
  const limiter = new ResolveLimiter(tagIndex);
  await Promise.all(
    tasks.map(async (task, place) => {
      const say = (message: MessageFromTask): void => outbox.say(place, message);
      const limited = tasks.length === 1 ? null : limiter.open();
      const hears = (hear: (message: MessageToTask) => void): void => {
        heard[place] = hear;
      };
      const error = await runTask(task, { say, hears, isMetered, index: limited ?? tagIndex })
        .then(() => null)
        .catch(plainly);
      limited?.close();
      say({ kind: 'ended', error });
    }),
  );
  outbox.flush();
  port.close();
}

/** A plain copy: the driver and others add properties to their errors that cannot cross a port. */
function plainly(error: unknown): Error {
  const plain = new Error(failureText(error));
  if (error instanceof Error && error.stack !== undefined) plain.stack = error.stack;
  return plain;
}

/** A task's position in its batch, with its channel and tag index. */
interface TaskChannel {
  readonly say: (message: MessageFromTask) => void;
  readonly hears: (hear: (message: MessageToTask) => void) => void;
  readonly isMetered: boolean;
  readonly index: TagIndex;
}

async function runTask(task: Task, channel: TaskChannel): Promise<void> {
  const cached =
    task.authorized === null ? null : senders.acquire(scopeKeyOf(task), task.authorized);
  const share = new BudgetShare(budget, cached?.budgetUse ?? { used: 0 });
  const permits = channel.isMetered
    ? new Permits(clock, (message) => channel.say({ kind: 'quota', message }))
    : null;
  const pace =
    task.ratePerSecond === null
      ? null
      : new Pace(clock, (message) => channel.say({ kind: 'pace', message }));
  try {
    const context = contextOf(task, { cached, share, permits, pace, channel });
    if (task.kind === 'chunk') await runChunk(task, context);
    else await runRetries(task, context);
  } finally {
    share.close();
    permits?.close();
    pace?.close();
    if (cached !== null) senders.release(cached);
  }
}

function hear(message: BroadcastMessage): void {
  if (message.kind !== 'warm') return;
  const cached = senders.acquire(message.scopeKey, message.authorized);
  cached.sender.warm(message.connections);
  senders.release(cached);
}

function tellBreaker({ scopes, breaker }: CachedSender): void {
  const openFor = breaker.isOpen ? breaker.lastReason : null;
  broadcast.send({ kind: 'circuit', threadId, scopeKeys: [...scopes], openFor });
}

function giveBack(control: TaskControl, { withinMs, answersWithinMs }: GiveBack): void {
  const nowMs = clock.monotonicMs();
  control.giveBack(nowMs + withinMs, answersWithinMs === null ? null : nowMs + answersWithinMs);
}

interface Means {
  readonly cached: CachedSender | null;
  readonly share: BudgetShare;
  readonly permits: Permits | null;
  readonly pace: Pace | null;
  readonly channel: TaskChannel;
}

function contextOf(task: Task, { cached, share, permits, pace, channel }: Means): RunContext {
  const control = new TaskControl(task);
  const provider = providerOn(task.platformId);
  const { say } = channel;
  const waiting: ((reply: Reply) => void)[] = [];
  let authorization = task.authorized?.authorization ?? '';
  let isRenewalAsked = false;

  channel.hears((message) => {
    switch (message.kind) {
      case 'reply':
        waiting.shift()?.(message.reply);
        break;
      case 'give-back':
        giveBack(control, message);
        break;
      case 'state':
        control.hearState(message.state, clock.monotonicMs());
        break;
      case 'authorize':
        authorization = message.authorization;
        isRenewalAsked = false;
        cached?.sender.authorize(authorization);
        break;
      case 'quota':
        permits?.hear(message.answer);
        break;
      case 'pace':
        pace?.hear(message.span);
        break;
    }
  });

  return {
    tagIndex: channel.index,
    sender: cached?.sender ?? null,
    fairQueue: cached?.fairQueue ?? null,
    breaker: cached?.breaker ?? new CircuitBreaker(clock),
    permits,
    pace,
    share,
    lease: new Lease(clock, task.leaseStartedMs, task.leaseMs, () => presence.covers(task.nodeId)),
    control,
    clock,
    log,
    report: (progress) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        say({ kind: 'report', packed: pack(progress) });
      }),
    takePlaces: takePlacesInTurn,
    authorizationExpired: () => {
      if (isRenewalAsked) return;
      isRenewalAsked = true;
      say({ kind: 'authorization-expired', authorization });
    },
    isAuthorizationAhead: () => {
      const signedAtMs = provider.signedAtMs(authorization);
      return signedAtMs !== null && signedAtMs > clock.nowMs();
    },
    ...noticesOf(task, control, say),
    provider,
    retryPolicy: provider.retryPolicy(origins),
  };
}

type Notices = Pick<RunContext, 'tooManyTokens' | 'credentialRefused' | 'unfamiliar' | 'step'>;

/** The notices about its provider that a task sends to the main thread, each once. */
function noticesOf(task: Task, control: TaskControl, say: TaskChannel['say']): Notices {
  let isFreezeAsked = false;
  let isRefusalTold = false;
  return {
    tooManyTokens: () => {
      if (!isFreezeAsked) say({ kind: 'too-many-tokens' });
      isFreezeAsked = true;
    },
    credentialRefused: (reason) => {
      if (!isRefusalTold) say({ kind: 'credential-refused', reason });
      isRefusalTold = true;
      control.giveBack(clock.monotonicMs(), null);
    },
    unfamiliar: ({ status, reason }) => {
      if (!unfamiliarReasons.isNew(task.platformId, status, reason)) return;
      say({ kind: 'unfamiliar', status, reason });
    },
    step: task.isTraced === true ? (step) => say({ kind: 'step', step }) : null,
  };
}
