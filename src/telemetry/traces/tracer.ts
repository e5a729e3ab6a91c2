/** Spans, reported when they are over. A job's trace id is in its own id (decision 62). */

import type { StepAttributes } from '../../std/step.ts';

export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export interface FinishedSpan {
  readonly name: string;
  readonly kind: 'server' | 'internal';
  readonly context: SpanContext;
  readonly parentId: string | null;
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: StepAttributes;
  /** Spans of other traces that it has to do with. */
  readonly links: readonly SpanContext[];
  readonly error: string | null;
}

export interface Tracer {
  /** Whether a trace that begins here is recorded: each node answers alike. */
  isSampled(traceId: string): boolean;
  newTraceId(): string;
  newSpanId(): string;
  tell(span: FinishedSpan): void;
}

export interface OpenTracer extends Tracer {
  stop(): Promise<void>;
}

const SPAN_DIGITS = 16;

/** The span of a whole push job: the trace is the 128 bits of its id, the span the last 64. */
export function contextOfJob(notificationId: string): SpanContext {
  const traceId = notificationId.replaceAll('-', '');
  return { traceId, spanId: traceId.slice(-SPAN_DIGITS) };
}

/** W3C Trace Context, version 00; later versions begin alike. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})/;

/** The span of a caller, and whether it is recorded; null: none is named. */
export function readTraceparent(
  header: string,
): (SpanContext & { readonly isSampled: boolean }) | null {
  const [, traceId, spanId, flags = ''] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
