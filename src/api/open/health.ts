/** Routes for operators: is the engine alive, can it work, what has it counted. */

import { z } from 'zod';
import { isLoopback } from '../../../packages/std/src/ip-address.ts';
import type { Failures } from '../../access/failures.ts';
import { createTokenCheck } from '../../access/operator-token.ts';
import { refuseGuesser } from '../../access/routes/refusals.ts';
import { STORE_STATES } from '../../database/write-probe.ts';
import type { HttpRequest, HttpResponse, OpenRoute } from '../../http/handler.ts';
import type { Operation } from '../../http/openapi/operation.ts';
import { jsonAnswer } from '../../http/openapi/parts.ts';
import { answerRefusal, refused } from '../../http/result.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import type { Readiness } from './readiness.ts';

interface HealthParts {
  readonly readiness: Pick<Readiness, 'ask'>;
  readonly metrics: Metrics;
  /** Opens the metrics to other machines. */
  readonly metricsToken: string | null;
  /** Opens the metrics too, and shows which version this is. */
  readonly operatorToken: string | null;
  readonly version: { readonly version: string; readonly commit: string | null };
  readonly failures: Failures;
}

const JSON_TYPE = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };

const NO_METRICS = refused(
  403,
  'Metrics are served to this machine, and to callers with the token for them or that of the operator.',
);

const readiness = z
  .object({
    status: z.enum(['ok', 'draining', 'unavailable']),
    stores: z.object({
      postgres: z.enum(STORE_STATES),
      redis: z.enum(['ok', 'unavailable']).optional(),
    }),
    version: z.string().optional(),
    commit: z.string().nullable().optional().meta({ description: 'null: built without git.' }),
  })
  .meta({ id: 'Readiness', description: 'Redis may be unavailable: sends go on without it.' });
const READY = { status: 'ok', stores: { postgres: 'ok' } };

const DOCUMENTS = {
  getLiveness: {
    summary: 'Whether the process answers',
    answers: {
      200: jsonAnswer('It does.', z.object({ status: z.literal('ok') }), { status: 'ok' }),
    },
  },
  getReadiness: {
    summary: 'Whether this node can serve',
    description:
      '`503` when the database is `unavailable`, `cannot write` or is `too new` (a later version has changed it, and this node cannot go on), and while the node drains. `redis` is there if one is configured; its state does not change the status. `version` and `commit` are there for callers that send `OPERATOR_TOKEN`.',
    answers: {
      200: jsonAnswer('It can.', readiness, READY),
      503: jsonAnswer('Send it nothing.', readiness, { ...READY, status: 'draining' }),
    },
  },
  getMetrics: {
    summary: 'Metrics for Prometheus',
    description:
      'Served to this machine, and to others that send `METRICS_TOKEN` or `OPERATOR_TOKEN` as `Authorization: Bearer`.',
    answers: {
      200: {
        description: 'In the text format of Prometheus.',
        content: {
          'text/plain': { schema: z.string(), example: 'tagcast_http_requests_total{…} 1' },
        },
      },
    },
    problems: [403, 429],
  },
} satisfies Readonly<Record<string, Operation>>;

export function healthRoutes(parts: HealthParts): readonly OpenRoute[] {
  const { metrics, metricsToken, operatorToken, version } = parts;
  const isOperator = createTokenCheck(operatorToken);
  const isCollector = createTokenCheck(metricsToken);
  const hasTokens = operatorToken !== null || metricsToken !== null;
  return [
    open('getLiveness', '/livez', () => answer(200, { status: 'ok' })),
    open('getReadiness', '/readyz', async (request) => {
      const { isReady, body } = await parts.readiness.ask();
      const shown = isOperator(request.header('authorization')) ? { ...body, ...version } : body;
      return answer(isReady ? 200 : 503, shown);
    }),
    open('getMetrics', '/metrics', (request) => {
      const presented = request.header('authorization');
      const isKnown = isOperator(presented) || isCollector(presented);
      if (isFromThisMachine(request) || isKnown) return metricsText(metrics);
      const isGuess = hasTokens && presented !== '';
      const refusal = isGuess ? refuseGuesser(parts.failures, request, 'credential') : null;
      return answerRefusal(request, refusal ?? NO_METRICS);
    }),
  ];
}

const open = (
  operation: keyof typeof DOCUMENTS,
  path: string,
  handle: OpenRoute['handle'],
): OpenRoute => ({
  operation,
  document: DOCUMENTS[operation],
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

async function metricsText(metrics: Metrics): Promise<HttpResponse> {
  return {
    status: 200,
    headers: { 'Content-Type': metrics.contentType },
    body: await metrics.text(),
  };
}

/** Names of this machine for itself, with a port or without. */
const OWN_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/** An untrusted proxy here passes requests on: with X-Forwarded-For, or for another name. */
const isFromThisMachine = (request: HttpRequest): boolean =>
  isLoopback(request.address) &&
  request.header('x-forwarded-for') === '' &&
  OWN_HOST.test(request.header('host'));
