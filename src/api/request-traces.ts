/** The span of a request: in the caller's trace, if named, else in that of the job it has made. */

import type { Route } from '../http/handler.ts';
import type { Step } from '../std/step.ts';
import type { SpanContext, Tracer } from '../telemetry/traces/tracer.ts';
import { contextOfJob, readTraceparent } from '../telemetry/traces/tracer.ts';
import type { AnsweredRequest } from './request-log.ts';
import { isOfPublishers } from './request-log.ts';

interface TracedRequest extends AnsweredRequest {
  readonly traceparent: string;
  readonly steps: readonly Step[];
}

/** Answers with such a status are faults of ours. */
const SERVER_FAULT = 500;

export class RequestTraces {
  readonly #tracer: Tracer;

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  takes(route: Route | null): boolean {
    return isOfPublishers(route);
  }

  tell(request: TracedRequest): void {
    const place = this.#placeOf(request);
    if (place === null) return;
    const { method, route, status, requestId, caller, durationMs, steps } = request;
    const endMs = Date.now();
    this.#tracer.tell({
      ...place,
      name: `${method} ${route?.path}`,
      kind: 'server',
      startMs: endMs - durationMs,
      endMs,
      attributes: {
        'http.request.method': method,
        'http.route': route?.path ?? '',
        'http.response.status_code': status,
        'tagcast.request_id': requestId,
        ...(caller === null ? {} : { 'tagcast.client_id': caller.clientId }),
      },
      error: status >= SERVER_FAULT ? String(status) : null,
    });
    const { traceId, spanId } = place.context;
    for (const step of steps) {
      this.#tracer.tell({
        ...step,
        kind: 'internal',
        context: { traceId, spanId: this.#tracer.newSpanId() },
        parentId: spanId,
        links: [],
        error: null,
      });
    }
  }

  /** Null: its trace is not recorded. */
  #placeOf({ traceparent, notificationId }: TracedRequest): Place | null {
    const spanId = this.#tracer.newSpanId();
    const job = notificationId === undefined ? null : contextOfJob(notificationId);
    const caller = readTraceparent(traceparent);
    if (caller !== null) {
      const context = { traceId: caller.traceId, spanId };
      const links = job === null ? [] : [job];
      return caller.isSampled ? { context, parentId: caller.spanId, links } : null;
    }
    const traceId = job?.traceId ?? this.#tracer.newTraceId();
    if (!this.#tracer.isSampled(traceId)) return null;
    return { context: { traceId, spanId }, parentId: job?.spanId ?? null, links: [] };
  }
}

interface Place {
  readonly context: SpanContext;
  readonly parentId: string | null;
  readonly links: readonly SpanContext[];
}
