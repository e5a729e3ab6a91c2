/** The threads that send: a Piscina pool, and the channel of each task in it. */

import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import { unpack } from 'msgpackr';
import { Piscina } from 'piscina';
import type { Progress } from '../../domain/progress.ts';
import type { Step } from '../../std/step.ts';
import type { ThreadVitals } from '../../std/thread-vitals.ts';
import { within } from '../../std/within.ts';
import { Outbox } from '../protocol/outbox.ts';
import type { PaceMessage } from '../protocol/pace.ts';
import type { QuotaMessage } from '../protocol/permits.ts';
import type {
  MessageBatch,
  MessageFromTask,
  MessageToTask,
  PostedBatch,
  Task,
  Unfamiliar,
  WorkerReadings,
  WorkerSettings,
} from '../protocol/task.ts';
import { WorkerTotals } from '../protocol/worker-totals.ts';

/**
 * A tag with few devices in each of a thousand groups makes tasks that mostly wait.
 * @limit tasks at once in a worker thread → they stay in the ledger
 */
const TASKS_PER_WORKER = 16;
/**
 * Two, as a notification has two platforms mostly.
 * @limit further tasks in a worker thread, for urgent sends → they stay in the ledger
 */
const RESERVED_TASKS_PER_WORKER = 2;
/**
 * Its tasks hold 8 MiB of tokens each (TOKEN_BYTES_MAX), and twice that while they resolve.
 * @limit MB of heap of a worker thread → the thread ends and is replaced; its tasks are given back
 */
const THREAD_HEAP_MB = 512;
/**
 * A thread is given so long to load before it is ended: some 300 ms on an idle machine.
 * @limit a worker thread loads before it is ended → it is ended as it loads
 */
const LOADING_MS_MAX = 5_000;

export interface TaskEvents {
  reported(progress: Progress): void;
  authorizationExpired(authorization: string): void;
  tooManyTokens(): void;
  /** The credential was refused, and another one may take its place. */
  credentialRefused(reason: string): void;
  /** Null: no quota limits it. */
  readonly quota: ((message: QuotaMessage) => void) | null;
  /** Null: it is held to no rate. */
  readonly pace: ((message: PaceMessage) => void) | null;
  unfamiliar(answer: Unfamiliar): void;
  step(step: Step): void;
}

/** Identifies tasks that go to a worker together; `run` gets them in one turn of the event loop. */
export type Batch = object;

export interface RunningTask {
  say(message: MessageToTask): void;
  /** Rejects when the task failed or its thread died. */
  readonly finished: Promise<void>;
}

export class WorkerPool {
  readonly slots: number;
  /** For urgent sends, beside those. */
  readonly reservedSlots: number;
  private readonly pool: Piscina;
  /** Totals of all its threads, dead ones included. */
  readonly totals = new WorkerTotals();
  private readonly vitalsOf = new Map<number, ThreadVitals>();
  /** The postings of batches that still gather their tasks. */
  private readonly postings = new WeakMap<Batch, Posting>();

  constructor(threads: number, settings: WorkerSettings, onError: (error: unknown) => void) {
    this.slots = threads * TASKS_PER_WORKER;
    this.reservedSlots = threads * RESERVED_TASKS_PER_WORKER;
    this.pool = new Piscina({
      filename: new URL('../worker/entry.js', import.meta.url).href,
      name: 'runBatch',
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: TASKS_PER_WORKER + RESERVED_TASKS_PER_WORKER,
      // With atomics an idle thread sleeps outside of its event loop, and answers no PING.
      atomics: 'disabled',
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
      workerData: settings,
    });
    // A thread that dies without a task; Piscina has replaced it already.
    this.pool.on('error', onError);
    this.pool.on('message', (readings: WorkerReadings) => {
      this.vitalsOf.set(readings.threadId, readings.vitals);
      this.totals.hear(readings);
      const alive = new Set(this.pool.threads.map((thread) => thread.threadId));
      for (const known of this.vitalsOf.keys()) if (!alive.has(known)) this.forget(known);
    });
  }

  private forget(threadId: number): void {
    this.vitalsOf.delete(threadId);
    this.totals.forget(threadId);
  }

  /** The last vitals of each thread that has reported some, the oldest thread first. */
  get vitals(): readonly ThreadVitals[] {
    return [...this.vitalsOf].sort(([a], [b]) => a - b).map(([, vitals]) => vitals);
  }

  /** Tasks with the same `batch` go to one worker together. Null: this one goes alone. */
  run(task: Task, events: TaskEvents, batch: Batch | null = null): RunningTask {
    if (batch === null) {
      const posting = new Posting(this.pool);
      const running = posting.add(task, events);
      posting.post();
      return running;
    }
    const open = this.postings.get(batch) ?? this.openPosting(batch);
    return open.add(task, events);
  }

  /** They come in one turn of the event loop: all waited for the same right to send. */
  private openPosting(batch: Batch): Posting {
    const posting = new Posting(this.pool);
    this.postings.set(batch, posting);
    setImmediate(() => {
      this.postings.delete(batch);
      posting.post();
    });
    return posting;
  }

  /**
   * Ends all threads, but not while they load: Node 20 aborts the process when a thread is ended in
   * the middle of `require` of an ES module (`v8::Module::IsGraphAsync`).
   */
  async destroy(): Promise<void> {
    await within(LOADING_MS_MAX, this.loaded(), undefined);
    await this.pool.destroy();
  }

  /** Resolves when each thread has reported its vitals, the last thing that it does as it loads. */
  private async loaded(): Promise<void> {
    while (this.pool.threads.some(({ threadId }) => !this.vitalsOf.has(threadId))) {
      await new Promise((resolve) => this.pool.once('message', resolve));
    }
  }
}

interface PostedPart {
  readonly task: Task;
  readonly events: TaskEvents;
  hasEnded: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/** One task or a batch of them in one worker, and the channel that they share. */
class Posting {
  private readonly pool: Piscina;
  private readonly parts: PostedPart[] = [];
  private readonly outbox: Outbox<MessageToTask>;
  private port: MessagePort | null = null;

  constructor(pool: Piscina) {
    this.pool = pool;
    this.outbox = new Outbox((messages) => this.port?.postMessage(messages));
  }

  add(task: Task, events: TaskEvents): RunningTask {
    const place = this.parts.length;
    const finished = new Promise<void>((resolve, reject) => {
      this.parts.push({ task, events, hasEnded: false, resolve, reject });
    });
    return { say: (message) => this.outbox.say(place, message), finished };
  }

  post(): void {
    const { port1, port2 } = new MessageChannel();
    this.port = port1;
    port1.on('message', (messages: MessageBatch<MessageFromTask>) => {
      for (const [place, message] of messages) this.hear(this.parts[place], message);
    });
    const posted: PostedBatch = {
      tasks: this.parts.map(({ task }) => task),
      port: port2,
      isMetered: this.parts.some(({ events }) => events.quota !== null),
    };
    void this.run(posted, port1, once(port1, 'close'));
  }

  /** Waits until the thread has closed the port, after its last words: they may hold permits. */
  private async run(
    posted: PostedBatch,
    port: MessagePort,
    closed: Promise<unknown>,
  ): Promise<void> {
    let failure: unknown = new Error('a worker has said nothing of how a task has ended');
    try {
      await this.pool.run(posted, { transferList: [posted.port] });
      await closed;
    } catch (error) {
      failure = error;
    } finally {
      port.close();
    }
    for (const part of this.parts) if (!part.hasEnded) part.reject(failure);
  }

  private hear(part: PostedPart | undefined, message: MessageFromTask): void {
    if (part === undefined) return;
    const { events } = part;
    switch (message.kind) {
      case 'report':
        events.reported(unpack(message.packed) as Progress);
        break;
      case 'authorization-expired':
        events.authorizationExpired(message.authorization);
        break;
      case 'too-many-tokens':
        events.tooManyTokens();
        break;
      case 'credential-refused':
        events.credentialRefused(message.reason);
        break;
      case 'quota':
        events.quota?.(message.message);
        break;
      case 'pace':
        events.pace?.(message.message);
        break;
      case 'unfamiliar':
        events.unfamiliar(message);
        break;
      case 'step':
        events.step(message.step);
        break;
      case 'ended':
        part.hasEnded = true;
        if (message.error === null) part.resolve();
        else part.reject(message.error);
        break;
    }
  }
}
