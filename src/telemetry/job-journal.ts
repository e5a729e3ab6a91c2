/**
 * The story of push jobs in the log and the traces, by the node that committed each event, after
 * the commit: a process that is killed between the two loses its line.
 */

import type { Logger } from 'pino';
import type { Step, StepAttributes } from '../std/step.ts';
import { flatLogger } from './log.ts';
import type { SpanContext, Tracer } from './traces/tracer.ts';
import { contextOfJob, readTraceparent } from './traces/tracer.ts';

/**
 * A push may address a thousand.
 * @limit apps that the line of a push job names → the others are not named
 */
const APPS_TOLD_MAX = 10;

interface AcceptedJob {
  readonly id: string;
  readonly clientId: number;
  readonly requestId: string;
  /** The trace that the request has named, or ''. */
  readonly traceparent: string;
  /** When the request handed it over. */
  readonly startedMs: number;
  readonly state: string;
  readonly appIds: readonly number[];
  readonly sendAtMs: number | null;
}

interface PlannedJob {
  readonly id: string;
  readonly clientId: number;
  /** When it was accepted, or was to be sent. */
  readonly dueAtMs: number;
  readonly plannedAtMs: number;
  readonly scopes: readonly { readonly appId: number; readonly chunks: number }[];
}

export interface EndedJob {
  readonly id: string;
  readonly clientId: number;
  /** FINISHED, FAILED or CANCELLED. */
  readonly state: string;
  readonly appIds: readonly number[];
  readonly dueAtMs: number;
  readonly endedAtMs: number;
  readonly fault: string | null;
  readonly total: number;
  readonly delivered: number;
  readonly failed: number;
  readonly skipped: number;
  readonly expired: number;
  readonly cancelled: number;
  readonly withheld: number;
}

/** The trace of one part while it is under way. */
export interface PartTrace {
  tell(step: Step): void;
  /** It is over. `error`: it has failed so. */
  end(error: string | null): void;
}

export class JobJournal {
  readonly #log: Logger;
  readonly #tracer: Tracer | null;

  /** `tracer`: null, nothing is traced. */
  constructor(log: Logger, tracer: Tracer | null = null) {
    this.#log = flatLogger(log);
    this.#tracer = tracer;
  }

  accepted(job: AcceptedJob): void {
    const { id, clientId, requestId, state, appIds, sendAtMs, startedMs, traceparent } = job;
    const caller = readTraceparent(traceparent);
    const attributes = { 'tagcast.client_id': clientId, 'tagcast.request_id': requestId };
    const step = { name: 'accept', startMs: startedMs, endMs: Date.now(), attributes };
    this.#tell(id, step, caller === null ? [] : [caller]);
    this.#log.info(
      {
        notificationId: id,
        clientId,
        ...appsOf(appIds),
        requestId,
        state,
        ...(sendAtMs === null ? {} : { sendAt: new Date(sendAtMs).toISOString() }),
      },
      'a push job was accepted',
    );
  }

  planned(jobs: readonly PlannedJob[], startedMs: number): void {
    for (const { id, clientId, scopes, dueAtMs, plannedAtMs } of jobs) {
      const chunks = scopes.reduce((sum, scope) => sum + scope.chunks, 0);
      const waitedMs = spanMs(dueAtMs, plannedAtMs);
      const apps = appsOf(scopes.map(({ appId }) => appId));
      const attributes = { 'tagcast.chunks': chunks, 'tagcast.waited_ms': waitedMs };
      this.#tell(id, { name: 'plan', startMs: startedMs, endMs: Date.now(), attributes });
      this.#log.info(
        { notificationId: id, clientId, ...apps, chunks, waitedMs },
        'a push job was planned',
      );
      // No device is in its audience: it ended with its planning.
      if (chunks === 0) this.ended([{ ...NOBODY, id, clientId, dueAtMs, endedAtMs: plannedAtMs }]);
    }
  }

  ended(jobs: readonly EndedJob[]): void {
    for (const job of jobs) {
      this.#tellWhole(job);
      const { id, clientId, appIds, dueAtMs, endedAtMs, fault, state, ...devices } = job;
      this.#log.info(
        {
          notificationId: id,
          clientId,
          ...appsOf(appIds),
          state,
          ...(fault === null ? {} : { fault }),
          ...devices,
          durationMs: spanMs(dueAtMs, endedAtMs),
        },
        'a push job has ended',
      );
    }
  }

  /** Begins the span of a part. Null: it has none. */
  beginPart(notificationId: string, attributes: StepAttributes): PartTrace | null {
    const job = this.#contextOf(notificationId);
    if (job === null || this.#tracer === null) return null;
    const tracer = this.#tracer;
    const startMs = Date.now();
    const own = { traceId: job.traceId, spanId: tracer.newSpanId() };
    const span = { kind: 'internal', links: [] } as const;
    return {
      tell: (step) =>
        tracer.tell({
          ...span,
          ...step,
          context: { traceId: job.traceId, spanId: tracer.newSpanId() },
          parentId: own.spanId,
          error: null,
        }),
      end: (error) =>
        tracer.tell({
          ...span,
          name: 'part',
          startMs,
          endMs: Date.now(),
          context: own,
          parentId: job.spanId,
          attributes,
          error,
        }),
    };
  }

  /** The span that all others of the job are below. */
  #tellWhole({ id, clientId, state, fault, dueAtMs, endedAtMs, ...job }: EndedJob): void {
    const context = this.#contextOf(id);
    if (context === null) return;
    this.#tracer?.tell({
      name: 'push job',
      kind: 'internal',
      context,
      parentId: null,
      startMs: Math.min(timeOf(id), endedAtMs),
      endMs: endedAtMs,
      attributes: {
        'tagcast.notification_id': id,
        'tagcast.client_id': clientId,
        'tagcast.state': state,
        'tagcast.due_at_ms': dueAtMs,
        'tagcast.total': job.total,
        'tagcast.delivered': job.delivered,
        'tagcast.failed': job.failed,
        'tagcast.skipped': job.skipped,
        'tagcast.expired': job.expired,
        'tagcast.cancelled': job.cancelled,
        'tagcast.withheld': job.withheld,
      },
      links: [],
      error: fault ?? (state === 'FAILED' ? state : null),
    });
  }

  #tell(notificationId: string, step: Step, links: readonly SpanContext[] = []): void {
    const job = this.#contextOf(notificationId);
    if (job === null || this.#tracer === null) return;
    const context = { traceId: job.traceId, spanId: this.#tracer.newSpanId() };
    const span = { kind: 'internal', parentId: job.spanId, links, error: null } as const;
    this.#tracer.tell({ ...span, ...step, context });
  }

  /** Null: the job is not traced. */
  #contextOf(notificationId: string): SpanContext | null {
    if (this.#tracer === null) return null;
    const context = contextOfJob(notificationId);
    return this.#tracer.isSampled(context.traceId) ? context : null;
  }
}

const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16);

const NOBODY = {
  state: 'FINISHED',
  appIds: [],
  fault: null,
  total: 0,
  delivered: 0,
  failed: 0,
  skipped: 0,
  expired: 0,
  cancelled: 0,
  withheld: 0,
};

function appsOf(appIds: readonly number[]): { readonly appIds?: readonly number[] } {
  const distinct = [...new Set(appIds)];
  return distinct.length === 0 ? {} : { appIds: distinct.slice(0, APPS_TOLD_MAX) };
}

/** A job that was cancelled before it was due has waited for nothing. */
const spanMs = (fromMs: number, toMs: number): number => Math.max(0, Math.round(toMs - fromMs));
