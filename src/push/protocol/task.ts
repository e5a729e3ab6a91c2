/** Messages between main thread and worker: tasks and replies down, reports and requests up. */

import type { MessagePort } from 'node:worker_threads';
import type { DatabaseAddress } from '../../database/sql.ts';
import type { Audience, Message, NotificationState } from '../../domain/notification.ts';
import type { CapTerms } from '../../domain/policies.ts';
import type { Progress } from '../../domain/progress.ts';
import type { ProviderOrigins } from '../../providers/origins.ts';
import type { ProviderCredential } from '../../providers/providers.ts';
import type { Step } from '../../std/step.ts';
import type { ThreadVitals } from '../../std/thread-vitals.ts';
import type { RedisAddress } from '../../tag-index/redis/connect.ts';
import type { ResolveReading } from '../../tag-index/resolve-meter.ts';
import type { TransportLimits, TransportName } from '../../transport/transport.ts';
import type { TransportReading } from '../../transport/transport-meter.ts';
import type { Reply } from '../ledger/reply.ts';
import type { NotificationTerms } from '../sql/notifications/terms.ts';
import type { Deadlines } from './deadlines.ts';
import type { PaceMessage, PaceSpan } from './pace.ts';
import type { QuotaAnswer, QuotaMessage } from './permits.ts';

export interface WorkerSettings {
  readonly address: DatabaseAddress;
  /** Null: the tag index is in the database. */
  readonly redis: RedisAddress | null;
  readonly origins: ProviderOrigins;
  readonly transport: TransportName;
  readonly logLevel: string;
  /** Where the threads see whether the node is present (presence.ts). */
  readonly presence: SharedArrayBuffer;
  /** The name of the broadcast to all threads (broadcast.ts). */
  readonly broadcast: string;
  /** Replace single limits of the providers' settings. */
  readonly limits: Partial<TransportLimits>;
}

/** A worker thread's report every few seconds; counts are since its last one. */
export interface WorkerReadings {
  readonly threadId: number;
  readonly vitals: ThreadVitals;
  /** Keyed by the provider's kind. */
  readonly transports: readonly (readonly [kind: string, reading: TransportReading])[];
  readonly resolved: ResolveReading;
}

/** The right to send for a scope, from the main thread: workers have no key of the secrets. */
export interface AuthorizedCredential {
  readonly credential: ProviderCredential;
  readonly authorization: string;
  /** The credential before it may take its place, so a refusal of this one does not stop a send. */
  readonly hasFallback?: true;
  /** The provider accepted it a moment ago, on any node: one refusal proves nothing. */
  readonly wasAcceptedLately?: true;
}

/** The payload is in the message. */
interface TaskShape extends Deadlines, Omit<NotificationTerms, 'payload' | 'audience'> {
  readonly message: Message;
  readonly audience: Audience;
  readonly appId: number;
  readonly platformId: number;
  /** The database's time of the claim, epoch milliseconds. */
  readonly claimedAtMs: number;
  /** Monotonic time before the claim was sent. */
  readonly leaseStartedMs: number;
  readonly leaseMs: number;
  /** The node's id at the claim: with another id it sends no more. Null: no other node exists. */
  readonly nodeId: number | null;
  /** Cancelled: the rest is counted, not sent. */
  readonly isCancelled: boolean;
  /** Whether any device of the scope has it already. */
  readonly hasDelivered: boolean;
  /** Why nothing may be sent in this scope. The rest of the scope is counted as failed. */
  readonly fault: string | null;
  /** One group was planned for the scope. */
  readonly isAlone: boolean;
  /** Null exactly when nothing will be sent: a fault, cancelled, or expired. */
  readonly authorized: AuthorizedCredential | null;
  /** Null: no cap concerns it, and its devices take no places. */
  readonly caps: CapTerms | null;
  /** The worker reports what it has done, for the trace. */
  readonly isTraced?: true;
}

export interface ChunkTask extends TaskShape {
  readonly kind: 'chunk';
  readonly groupNumber: number;
  readonly epoch: number;
  readonly doneBlocks: bigint;
  /** At most once: blocks that may have been sent in part; the rest of them is not sent again. */
  readonly startedBlocks: bigint;
  readonly ordinalEnd: number;
  readonly groupVersion: number;
  /** An earlier holder was lost, and may have sent to any device of blocks that are not done. */
  readonly isDoubted: boolean;
  /** Devices that have the message of the job that this one retries, as bits. Absent: none. */
  readonly leftOut?: Uint8Array;
  /** The devices that it goes to, as bits. Absent: its audience says so. */
  readonly named?: Uint8Array;
}

export interface RetryTask extends TaskShape {
  readonly kind: 'retries';
  /** Parallel: the devices, the epochs of their rows, the sends tried so far, and: */
  readonly ordinals: readonly number[];
  readonly epochs: readonly number[];
  readonly attempts: readonly number[];
  /** Whether the claim before this one was lost, perhaps after its send. */
  readonly wereLost: readonly boolean[];
}

export type Task = ChunkTask | RetryTask;

/** Small tasks of one (app, platform) with their end of a channel: messages name positions. */
export interface PostedBatch {
  readonly tasks: readonly Task[];
  readonly port: MessagePort;
  /** Whether a quota limits their sends: then each task asks for permits before it sends. */
  readonly isMetered: boolean;
}

/** One message on the port: all words of one turn of the event loop. */
export type MessageBatch<T> = readonly (readonly [place: number, message: T])[];

/** The time that a task gets when it is asked to stop and to give its rest back. */
export interface GiveBack {
  /** It stops at the next boundary between blocks, or after this time. */
  readonly withinMs: number;
  /** It waits so long at most for sends under way. Null: until they end, so none is sent twice. */
  readonly answersWithinMs: number | null;
}

/** From the main thread to a running task. Reports are answered in their order. */
export type MessageToTask =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | ({ readonly kind: 'give-back' } & GiveBack)
  /** The state of its notification, from now on. */
  | { readonly kind: 'state'; readonly state: NotificationState }
  | { readonly kind: 'authorize'; readonly authorization: string }
  | { readonly kind: 'quota'; readonly answer: QuotaAnswer }
  | { readonly kind: 'pace'; readonly span: PaceSpan };

/** From a task to the main thread. A report is packed, because it holds many devices. */
export type MessageFromTask =
  | { readonly kind: 'report'; readonly packed: Uint8Array }
  | { readonly kind: 'authorization-expired'; readonly authorization: string }
  | { readonly kind: 'too-many-tokens' }
  | { readonly kind: 'credential-refused'; readonly reason: string }
  | { readonly kind: 'quota'; readonly message: QuotaMessage }
  | { readonly kind: 'pace'; readonly message: PaceMessage }
  /** The last one: the task has ended. `error`: why it failed, or null. */
  | { readonly kind: 'ended'; readonly error: unknown }
  | ({ readonly kind: 'unfamiliar' } & Unfamiliar)
  | { readonly kind: 'step'; readonly step: Step };

/** A provider's reason that is in no documentation: the HTTP status alone decided what it means. */
export interface Unfamiliar {
  readonly status: number;
  readonly reason: string;
}

export type Report = (progress: Progress) => Promise<Reply>;
