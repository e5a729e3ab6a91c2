/** The threads that send: a Piscina pool, and the channel of each task in it. */

import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import { unpack } from 'msgpackr';
import { Piscina } from 'piscina';
import type { Progress } from '../../domain/progress.ts';
import type { ThreadVitals } from '../../std/thread-vitals.ts';
import type { QuotaNote } from '../protocol/permits.ts';
import type {
  Note,
  PostedTask,
  Task,
  Unfamiliar,
  Word,
  WorkerSettings,
  WorkerVitals,
} from '../protocol/task.ts';

/**
 * Tasks at once in a thread. While one sends the next ones resolve; and a tag with few devices in each of a thousand
 * groups is a thousand tasks that do nothing but wait for the index and the ledger. A single scope gets two thirds of them.
 */
export const TASKS_PER_WORKER = 16;
/** Room for the largest group's tokens (8,192 × 16 KiB) would be absurd; four-kilobyte ones of all tasks fit. */
const THREAD_HEAP_MB = 512;

export interface TaskEvents {
  reported(progress: Progress): void;
  authorizationExpired(authorization: string): void;
  tooManyTokens(): void;
  /** And another one may take its place. */
  credentialRefused(reason: string): void;
  /** Null: no quota limits it. */
  readonly quota: ((note: QuotaNote) => void) | null;
  unfamiliar(answer: Unfamiliar): void;
}

export interface RunningTask {
  say(word: Word): void;
  /** Rejects when the task failed or its thread died. */
  readonly finished: Promise<void>;
}

export class WorkerPool {
  readonly slots: number;
  private readonly pool: Piscina;
  /** By thread: what it told last. */
  private readonly told = new Map<number, ThreadVitals>();

  constructor(threads: number, settings: WorkerSettings, onError: (error: unknown) => void) {
    this.slots = threads * TASKS_PER_WORKER;
    this.pool = new Piscina({
      filename: new URL('../worker/entry.js', import.meta.url).href,
      name: 'runTask',
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: TASKS_PER_WORKER,
      // With atomics an idle thread sleeps outside of its event loop, and answers no provider's PING.
      atomics: 'disabled',
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
      workerData: settings,
    });
    // A thread that dies without a task; Piscina has replaced it already.
    this.pool.on('error', onError);
    this.pool.on('message', ({ threadId, vitals }: WorkerVitals) => {
      this.told.set(threadId, vitals);
      const alive = new Set(this.pool.threads.map((thread) => thread.threadId));
      for (const known of this.told.keys()) if (!alive.has(known)) this.told.delete(known);
    });
  }

  /** Of each thread that has told of itself, the oldest first. */
  get vitals(): readonly ThreadVitals[] {
    return [...this.told].sort(([a], [b]) => a - b).map(([, vitals]) => vitals);
  }

  run(task: Task, events: TaskEvents): RunningTask {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', (note: Note) => {
      switch (note.kind) {
        case 'report':
          events.reported(unpack(note.packed) as Progress);
          break;
        case 'authorization-expired':
          events.authorizationExpired(note.authorization);
          break;
        case 'too-many-tokens':
          events.tooManyTokens();
          break;
        case 'credential-refused':
          events.credentialRefused(note.reason);
          break;
        case 'quota':
          events.quota?.(note.note);
          break;
        case 'unfamiliar':
          events.unfamiliar(note);
          break;
      }
    });
    const posted: PostedTask = { task, port: port2, isMetered: events.quota !== null };
    const closed = once(port1, 'close');
    return {
      say: (word) => port1.postMessage(word),
      finished: this.finish(posted, port1, closed),
    };
  }

  /**
   * The task's end comes by another way than its last words, and mostly before them. Its thread closes the port behind them, so
   * they are waited for: a task's unused quota is among them.
   */
  private async finish(posted: PostedTask, port: MessagePort, closed: Promise<unknown>) {
    try {
      await this.pool.run(posted, { transferList: [posted.port] });
      await closed;
    } finally {
      port.close();
    }
  }

  /** Ends all threads, whatever they do. */
  destroy(): Promise<void> {
    return this.pool.destroy();
  }
}
