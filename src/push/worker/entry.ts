/**
 * A worker thread: resolves, renders, sends, accounts. It owns its connections to the database and to the providers for
 * its whole life; everything else comes with the task.
 */

import { parentPort, threadId } from 'node:worker_threads';
import { pack } from 'msgpackr';
import { workerData } from 'piscina';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Verdict } from '../../outcomes/verdict.ts';
import { providerOn } from '../../providers/providers.ts';
import { systemClock } from '../../std/clock.ts';
import { tellThreadVitals } from '../../std/thread-vitals.ts';
import { connect } from '../../store/sql.ts';
import { SqlTagIndex } from '../../tag-index/sql/sql-tag-index.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import { createLogger } from '../../telemetry/log.ts';
import { Permits } from '../protocol/permits.ts';
import { Presence } from '../protocol/presence.ts';
import type {
  GiveBack,
  Note,
  PostedTask,
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
import { runRetries } from './retry/retry-runner.ts';
import type { RunContext } from './run-context.ts';
import { BudgetShare, SendBudget } from './send-budget.ts';
import type { Line } from './sender-cache.ts';
import { SenderCache } from './sender-cache.ts';
import { TaskControl } from './task-control.ts';

/** One question at a time and the next one beside it: resolving must not crowd out registrations. */
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

/** Each thread loads what it runs: Redis' client is for those who have one. */
async function openTagIndex(): Promise<TagIndex> {
  if (settings.redis === null) return new SqlTagIndex(sql);
  const { openIndexReader } = await import('../../tag-index/redis/open.ts');
  return openIndexReader(settings.redis, sql, log);
}

/** Piscina's task: resolves when the last report is answered. */
export async function runTask({ task, port, isMetered }: PostedTask): Promise<void> {
  const line = task.authority === null ? null : senders.acquire(scopeKeyOf(task), task.authority);
  const share = new BudgetShare(budget, line?.budgetLine ?? { used: 0 });
  const permits = isMetered
    ? new Permits(clock, (note) => port.postMessage({ kind: 'quota', note } satisfies Note))
    : null;
  try {
    const context = contextOf(task, { line, share, permits, port });
    if (task.kind === 'chunk') await runChunk(task, context);
    else await runRetries(task, context);
  } finally {
    share.close();
    permits?.close();
    if (line !== null) senders.release(line);
    port.close();
  }
}

/** A send of this scope is near. */
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
  readonly port: PostedTask['port'];
}

function contextOf(task: Task, { line, share, permits, port }: Means): RunContext {
  const control = new TaskControl(task);
  const provider = providerOn(task.platformId);
  const say = (note: Note): void => port.postMessage(note);
  const waiting: ((verdict: Verdict) => void)[] = [];
  let authorization = task.authority?.authorization ?? '';
  let isRenewalAsked = false;
  let isFreezeAsked = false;
  let isRefusalTold = false;

  port.on('message', (word: Word) => {
    switch (word.kind) {
      case 'verdict':
        waiting.shift()?.(word.verdict);
        break;
      case 'give-back':
        giveBack(control, word);
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
    tagIndex,
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
