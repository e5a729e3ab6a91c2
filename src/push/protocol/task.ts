/**
 * What crosses the port between the main thread and a worker: tasks and words down, reports and
 * questions up.
 */

import type { MessagePort } from 'node:worker_threads';
import type { ProviderCredential } from '../../domain/credential.ts';
import type { Audience, Message } from '../../domain/notification.ts';
import type { Progress } from '../../domain/progress.ts';
import type { Verdict } from '../../outcomes/verdict.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import type { ThreadVitals } from '../../std/thread-vitals.ts';
import type { DatabaseAddress } from '../../store/sql.ts';
import type { RedisAddress } from '../../tag-index/redis/connect.ts';
import type { TransportName } from '../../transport/transport.ts';
import type { Deadlines } from './deadlines.ts';
import type { QuotaAnswer, QuotaNote } from './permits.ts';

/** What a worker thread is started with. */
export interface WorkerSettings {
  readonly address: DatabaseAddress;
  /** Where the tag index is; null: in the database. */
  readonly redis: RedisAddress | null;
  readonly origins: ProviderOrigins;
  readonly transport: TransportName;
  readonly logLevel: string;
  /** Where the threads see whether the node is present (presence.ts). */
  readonly presence: SharedArrayBuffer;
  /** The name of what all threads hear (wire.ts). */
  readonly wire: string;
  /** Connections of one credential to one host, of this thread. */
  readonly connectionsMax: number;
}

/** What a worker thread tells of itself. */
export interface WorkerVitals {
  readonly threadId: number;
  readonly vitals: ThreadVitals;
}

/**
 * The right to send for a scope; made on the main thread, for workers never see the key of the
 * secrets.
 */
export interface Authority {
  readonly credential: ProviderCredential;
  readonly authorization: string;
  /** The one before it may take its place: its refusal does not stop a send. */
  readonly hasFallback?: true;
}

interface TaskShape extends Deadlines {
  readonly message: Message;
  readonly appId: number;
  readonly platformId: number;
  readonly audience: Audience;
  /** The database's time of the claim, epoch milliseconds. */
  readonly claimedAtMs: number;
  /** Monotonic time before the claim was sent. */
  readonly leaseStartedMs: number;
  readonly leaseMs: number;
  /**
   * The node's id at the claim: under another one nothing of it is sent any more. Null: there is no
   * other node.
   */
  readonly nodeId: number | null;
  /** Cancelled: the rest is counted, not sent. */
  readonly isCancelled: boolean;
  /**
   * No device may get it twice, rather none: what is not known to have failed is not sent again.
   */
  readonly isAtMostOnce: boolean;
  /** Whether any device of the scope has it already. */
  readonly hasDelivered: boolean;
  /** Why nothing may be sent in this scope: its rest is counted as failed. */
  readonly fault: string | null;
  /** Null exactly when nothing will be sent: a fault, cancelled, or expired. */
  readonly authority: Authority | null;
}

export interface ChunkTask extends TaskShape {
  readonly kind: 'chunk';
  readonly groupNumber: number;
  readonly epoch: number;
  readonly doneBlocks: bigint;
  /**
   * At most once: blocks that may have been sent in part before; what is not done of them is not
   * sent again.
   */
  readonly startedBlocks: bigint;
  readonly ordinalEnd: number;
  readonly groupVersion: number;
}

export interface RetryTask extends TaskShape {
  readonly kind: 'retries';
  /** Parallel: the devices, the epochs of their rows, the sends tried so far, and: */
  readonly ordinals: readonly number[];
  readonly epochs: readonly number[];
  readonly attempts: readonly number[];
  /** Whether it was lost by whoever sent it before. */
  readonly wereLost: readonly boolean[];
}

export type Task = ChunkTask | RetryTask;

/**
 * What a worker is handed at a time, with its end of their channel: one task, or a lot of small
 * ones, all of one (app, platform). What is said of each names its place in the lot.
 */
export interface PostedLot {
  readonly tasks: readonly Task[];
  readonly port: MessagePort;
  /** Whether a quota limits their sends: then each asks before them. */
  readonly isMetered: boolean;
}

/** What crosses the port at a time: all that was said in one turn of the event loop. */
export type Said<T> = readonly (readonly [place: number, word: T])[];

/** What a task is given when it is asked to stop and to give its rest back. */
export interface GiveBack {
  /** It stops at the next boundary of blocks, or after this time. */
  readonly withinMs: number;
  /**
   * Sends under way are waited for at most so long; null: until they have ended, so that none is
   * sent twice.
   */
  readonly answersWithinMs: number | null;
}

/** Down, while a task runs. Reports are answered in their order. */
export type Word =
  | { readonly kind: 'verdict'; readonly verdict: Verdict }
  | ({ readonly kind: 'give-back' } & GiveBack)
  | { readonly kind: 'authorize'; readonly authorization: string }
  | { readonly kind: 'quota'; readonly answer: QuotaAnswer };

/** Up. A report is packed, because it holds many devices. */
export type Note =
  | { readonly kind: 'report'; readonly packed: Uint8Array }
  | { readonly kind: 'authorization-expired'; readonly authorization: string }
  | { readonly kind: 'too-many-tokens' }
  | { readonly kind: 'credential-refused'; readonly reason: string }
  | { readonly kind: 'quota'; readonly note: QuotaNote }
  /** The last one: the task has ended, by this error if there is one. */
  | { readonly kind: 'ended'; readonly error: unknown }
  | ({ readonly kind: 'unfamiliar' } & Unfamiliar);

/** A reason of the provider that no documentation knows; the HTTP status decided what it means. */
export interface Unfamiliar {
  readonly status: number;
  readonly reason: string;
}

export type Report = (progress: Progress) => Promise<Verdict>;
