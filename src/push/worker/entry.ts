/**
 * A worker thread: resolves, renders, sends, reports. It keeps its connections to the database and
 * to the providers for its whole life; everything else comes with the task.
 */

import { parentPort, threadId } from 'node:worker_threads';
import { pack } from 'msgpackr';
import { workerData } from 'piscina';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Verdict } from '../../outcomes/verdict.ts';
import { providerOn } from '../../providers/providers.ts';
import { systemClock } from '../../std/clock.ts';
import { failureText } from '../../std/failure-text.ts';
import { tellThreadVitals } from '../../std/thread-vitals.ts';
import { connect } from '../../store/sql.ts';
import { SqlTagIndex } from '../../tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import { createLogger } from '../../telemetry/log.ts';
import { Outbox } from '../protocol/outbox.ts';
import { Permits } from '../protocol/permits.ts';
import { Presence } from '../protocol/presence.ts';
import type {
  GiveBack,
  Note,
  PostedLot,
  Said,
  Task,
  Word,
  WorkerSettings,
  WorkerVitals,
} from '../protocol/task.ts';
import { UnfamiliarReasons } from '../protocol/unfamiliar-reasons.ts';
import type { WireWord } from '../protocol/wire.ts';
import { openWire } from '../protocol/wire.ts';
import { runChunk } from './chunk/chunk-runner.ts';
import { Lease } from './lease.ts';
import { ProviderHealth } from './provider-health.ts';
import { ResolveGate } from './resolve-gate.ts';
import { runRetries } from './retry/retry-runner.ts';
import type { RunContext } from './run-context.ts';
import { BudgetShare, SendBudget } from './send-budget.ts';
import type { Line } from './sender-cache.ts';
import { SenderCache } from './sender-cache.ts';
import { TaskControl } from './task-control.ts';

/** At most two queries run at a time: resolving must not crowd out registrations. */
const CONNECTIONS_MAX = 2;

const settings = workerData as WorkerSettings;
const clock = systemClock;
const presence = new Presence(clock, settings.presence);
const log = createLogger(settings.logLevel, 'worker');
const sql = connect(settings.address, CONNECTIONS_MAX);
const tagIndex = await openTagIndex();
const { origins, transport, connectionsMax } = settings;
const senders = new SenderCache(
  { origins, transport, limits: { connectionsMax }, onCircuit: tellCircuit },
  clock,
);
const wire = openWire(settings.wire, hear);
const budget = new SendBudget();
const unfamiliarReasons = new UnfamiliarReasons();
tellThreadVitals((vitals) => parentPort?.postMessage({ threadId, vitals } satisfies WorkerVitals));

/** Loads the Redis client only where a Redis is configured: each thread loads its own code. */
async function openTagIndex(): Promise<TagIndex> {
  if (settings.redis === null) return new SqlTagIndex(sql);
  const { openIndexReader } = await import('../../tag-index/redis/open.ts');
  return openIndexReader(settings.redis, sql, log);
}

/** Piscina's task: resolves when the last report of each task is answered. */
export async function runLot({ tasks, port, isMetered }: PostedLot): Promise<void> {
  const outbox = new Outbox<Note>((said) => port.postMessage(said));
  const heard: ((word: Word) => void)[] = [];
  port.on('message', (said: Said<Word>) => {
    for (const [place, word] of said) heard[place]?.(word);
  });
  const gate = new ResolveGate(tagIndex);
  await Promise.all(
    tasks.map(async (task, place) => {
      const say = (note: Note): void => outbox.say(place, note);
      const passage = tasks.length === 1 ? null : gate.open();
      const hears = (hear: (word: Word) => void): void => {
        heard[place] = hear;
      };
      const error = await runTask(task, { say, hears, isMetered, index: passage ?? tagIndex })
        .then(() => null)
        .catch(plainly);
      passage?.close();
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

/** A task's place in its lot, with its channel and tag index. */
interface Place {
  readonly say: (note: Note) => void;
  readonly hears: (hear: (word: Word) => void) => void;
  readonly isMetered: boolean;
  readonly index: TagIndex;
}

async function runTask(task: Task, place: Place): Promise<void> {
  const line = task.authority === null ? null : senders.acquire(scopeKeyOf(task), task.authority);
  const share = new BudgetShare(budget, line?.budgetLine ?? { used: 0 });
  const permits = place.isMetered
    ? new Permits(clock, (note) => place.say({ kind: 'quota', note }))
    : null;
  try {
    const context = contextOf(task, { line, share, permits, place });
    if (task.kind === 'chunk') await runChunk(task, context);
    else await runRetries(task, context);
  } finally {
    share.close();
    permits?.close();
    if (line !== null) senders.release(line);
  }
}

/** A scheduled send of this scope is near. */
function hear(word: WireWord): void {
  if (word.kind !== 'warm') return;
  const line = senders.acquire(word.scopeKey, word.authority);
  line.sender.warm(word.connections);
  senders.release(line);
}

function tellCircuit({ scopes, health }: Line): void {
  const openFor = health.isOpen ? health.lastReason : null;
  wire.say({ kind: 'circuit', threadId, scopeKeys: [...scopes], openFor });
}

function giveBack(control: TaskControl, { withinMs, answersWithinMs }: GiveBack): void {
  const nowMs = clock.monotonicMs();
  control.giveBack(nowMs + withinMs, answersWithinMs === null ? null : nowMs + answersWithinMs);
}

interface Means {
  readonly line: Line | null;
  readonly share: BudgetShare;
  readonly permits: Permits | null;
  readonly place: Place;
}

function contextOf(task: Task, { line, share, permits, place }: Means): RunContext {
  const control = new TaskControl(task);
  const provider = providerOn(task.platformId);
  const { say } = place;
  const waiting: ((verdict: Verdict) => void)[] = [];
  let authorization = task.authority?.authorization ?? '';
  let isRenewalAsked = false;
  let isFreezeAsked = false;
  let isRefusalTold = false;

  place.hears((word) => {
    switch (word.kind) {
      case 'verdict':
        waiting.shift()?.(word.verdict);
        break;
      case 'give-back':
        giveBack(control, word);
        break;
      case 'state':
        control.hearState(word.state, clock.monotonicMs());
        break;
      case 'authorize':
        authorization = word.authorization;
        isRenewalAsked = false;
        line?.sender.authorize(authorization);
        break;
      case 'quota':
        permits?.hear(word.answer);
        break;
    }
  });

  return {
    tagIndex: place.index,
    sender: line?.sender ?? null,
    turns: line?.turns ?? null,
    health: line?.health ?? new ProviderHealth(clock),
    permits,
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
    authorizationExpired: () => {
      if (isRenewalAsked) return;
      isRenewalAsked = true;
      say({ kind: 'authorization-expired', authorization });
    },
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
    provider,
    retryPolicy: provider.retryPolicy(origins),
  };
}
