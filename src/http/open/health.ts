/** Routes for whoever runs the engine: is it alive, can it work, what did it count. */

import { isLoopback } from '../../std/ip-address.ts';
import { within } from '../../std/within.ts';
import type { Sql } from '../../store/sql.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { HttpRequest, HttpResponse, OpenRoute } from '../handler.ts';
import { problem } from '../problem.ts';

export interface HealthParts {
  readonly sql: Sql;
  readonly metrics: Metrics;
  /** From SIGTERM on: balancers are to send nobody here. */
  isDraining(): boolean;
}

/** A store that takes longer than this to answer `select 1` cannot serve. */
const STORE_TIMEOUT_MS = 2_000;
const JSON_TYPE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

/** `/livez`, `/readyz`, `/metrics`. */
export function healthRoutes(parts: HealthParts): readonly OpenRoute[] {
  return [
    open('/livez', () => answer(200, { status: 'ok' })),
    open('/readyz', () => readiness(parts)),
    open('/metrics', (request) =>
      isFromThisMachine(request)
        ? metricsText(parts.metrics)
        : problem(request.requestId, 403, 'Metrics are given to this machine only.'),
    ),
  ];
}

const open = (path: string, handle: OpenRoute['handle']): OpenRoute => ({
  api: 'open',
  method: 'GET',
  path,
  bodyBytesMax: 0,
  handle,
});

const answer = (status: number, body: unknown): HttpResponse => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify(body),
});

async function readiness({ sql, isDraining }: HealthParts): Promise<HttpResponse> {
  const postgres = (await answersInTime(sql)) ? 'ok' : 'unavailable';
  const draining = isDraining();
  const ready = postgres === 'ok' && !draining;
  const state = draining ? 'draining' : 'unavailable';
  return answer(ready ? 200 : 503, {
    status: ready ? 'ok' : state,
    stores: { postgres },
  });
}

/** Whatever is wrong with the store, the answer is that it is. */
function answersInTime(sql: Sql): Promise<boolean> {
  const asked = sql`select 1`.then(
    () => true,
    () => false,
  );
  return within(STORE_TIMEOUT_MS, asked, false);
}

async function metricsText(metrics: Metrics): Promise<HttpResponse> {
  return {
    status: 200,
    headers: { 'Content-Type': metrics.contentType },
    body: await metrics.text(),
  };
}

/** A proxy on this machine that is not among the trusted ones speaks for others: they are not this machine. */
const isFromThisMachine = (request: HttpRequest): boolean =>
  isLoopback(request.address) && request.header('x-forwarded-for') === '';
