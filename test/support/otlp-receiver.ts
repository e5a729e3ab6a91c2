/** A collector of OpenTelemetry: takes spans by OTLP over HTTP, as JSON. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Lifetime } from './lifetime.ts';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isError: boolean;
  /** The process that has sent it. */
  readonly resource: Readonly<Record<string, unknown>>;
}

type Attributes = readonly {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}[];

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: Attributes;
        readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
        readonly status: { readonly code: number };
      }[];
    }[];
  }[];
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** The paths that were asked for, with their header `x-tenant`. */
  readonly requests: readonly (readonly [path: string, tenant: unknown])[];
  /** From now on it answers with this status. */
  answerWith(status: number): void;
}

const ERROR_CODE = 2;
const NANOS_PER_US = 1_000n;

/** To a microsecond: the SDK's own arithmetic loses some nanoseconds. */
const msOf = (nanos: string): number =>
  Number((BigInt(nanos) + NANOS_PER_US / 2n) / NANOS_PER_US) / 1_000;

const valuesOf = (attributes: Attributes): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

export async function startOtlpReceiver(t: Lifetime): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: (readonly [string, unknown])[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    requests.push([request.url ?? '', request.headers['x-tenant']]);
    void json(request).then((body) => {
      if (status === 200) spans.push(...spansIn(body as Exported));
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    requests,
    answerWith(next) {
      status = next;
    },
  };
}

const spansIn = ({ resourceSpans }: Exported): readonly ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ parentSpanId = '', links = [], ...span }) => ({
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId,
        name: span.name,
        kind: span.kind,
        startMs: msOf(span.startTimeUnixNano),
        endMs: msOf(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes),
        links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
        isError: span.status.code === ERROR_CODE,
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
