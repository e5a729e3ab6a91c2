/** The SDK of OpenTelemetry (OTLP over HTTP). Only an engine with an endpoint loads this file. */

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  detectResources,
  envDetector,
  hostDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { Seldom } from '../../../packages/std/src/seldom.ts';
import { failureText } from '../../std/failure-text.ts';
import { within } from '../../std/within.ts';
import type { FinishedSpan, OpenTracer } from './tracer.ts';

/**
 * About 1 KiB each.
 * @limit spans that wait for the collector of traces → dropped
 */
const SPANS_WAITING_MAX = 8_192;
/**
 * Some 200 KB.
 * @limit spans in one request to it → the next request
 */
const SPANS_PER_EXPORT_MAX = 512;
/**
 * An engine that stops waits for it; a collector beside it takes milliseconds.
 * @limit an export of spans with its repetitions → dropped
 */
const EXPORT_TIMEOUT_MS = 2_000;
/** @limit the last export of an engine that stops → dropped */
const LAST_EXPORT_MS = 1_000;
const TRAILING_SLASH = /\/$/;
/**
 * A collector that is away is no fault of the engine.
 * @limit between log lines about exports of spans that failed → counted
 */
const TOLD_EVERY_MS = 600_000;

/** Where the SDK gets the ids of the span that it is about to make. */
class GivenIds extends RandomIdGenerator {
  given = { traceId: '', spanId: '' };
  override generateTraceId = (): string => this.given.traceId;
  override generateSpanId = (): string => this.given.spanId;
}

export interface TracesOptions {
  /** The URL of the collector, without the path of the signal. */
  readonly endpoint: string;
  /** The share of traces that are recorded: of those that begin here. */
  readonly share: number;
  readonly version: string;
  readonly log: Logger;
}

export function openTracer({ endpoint, share, version, log }: TracesOptions): OpenTracer {
  const random = new RandomIdGenerator();
  const ids = new GivenIds();
  const sampler = new TraceIdRatioBasedSampler(share);
  const own = resourceFromAttributes({ 'service.name': 'tagcast', 'service.version': version });
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(TRAILING_SLASH, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    // The operator's settings win.
    resource: own.merge(detectResources({ detectors: [hostDetector, envDetector] })),
    idGenerator: ids,
    // A span is made only after asking whether to trace.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: told(exporter, log),
        maxQueueSize: SPANS_WAITING_MAX,
        maxExportBatchSize: SPANS_PER_EXPORT_MAX,
      }),
    ],
  });
  const tracer = provider.getTracer('tagcast', version);
  return {
    isSampled: (traceId) =>
      sampler.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED,
    newTraceId: () => random.generateTraceId(),
    newSpanId: () => random.generateSpanId(),
    tell({ name, kind, context, parentId, startMs, endMs, attributes, links, error }) {
      ids.given = context;
      const span = tracer.startSpan(
        name,
        {
          kind: SPAN_KINDS[kind],
          startTime: startMs,
          attributes,
          links: links.map((link) => ({ context: { ...link, traceFlags: TraceFlags.SAMPLED } })),
        },
        parentId === null
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, {
              traceId: context.traceId,
              spanId: parentId,
              traceFlags: TraceFlags.SAMPLED,
              isRemote: true,
            }),
      );
      if (error !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      // A clock that was set back meanwhile makes no span of negative length.
      span.end(Math.max(startMs, endMs));
    },
    stop: () =>
      within(
        LAST_EXPORT_MS,
        provider.shutdown().catch(() => undefined),
        undefined,
      ),
  };
}

const SPAN_KINDS: Readonly<Record<FinishedSpan['kind'], SpanKind>> = {
  server: SpanKind.SERVER,
  internal: SpanKind.INTERNAL,
};

function told(exporter: OTLPTraceExporter, log: Logger): SpanExporter {
  const failures = new Seldom(TOLD_EVERY_MS);
  return {
    export: (spans: ReadableSpan[], done) =>
      exporter.export(spans, (result) => {
        const times = result.error === undefined ? null : failures.count();
        if (times !== null) {
          const reason = failureText(result.error);
          log.warn({ times, reason }, 'traces could not be exported: their spans are dropped');
        }
        done(result);
      }),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
