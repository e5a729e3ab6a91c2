/** `webhooks/<id>/deliveries`: what was sent to a webhook, and sending it again. */

import { z } from 'zod';
import { asSuperUser } from '../../access/routes/as-super-user.ts';
import { recordChange } from '../../audit/record-change.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { DELIVERY_STATES } from '../../domain/webhook.ts';
import type { ApiRoute, HttpRequest, HttpResponse } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { invalid, json, readJsonBody } from '../../http/json-body.ts';
import { answerList } from '../../http/list-answer.ts';
import { QueryReader } from '../../http/query-reader.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import type { ListedDelivery } from '../sql/deliveries.ts';
import { listDeliveries, replayDeliveries } from '../sql/deliveries.ts';
import { hostOf, unknownWebhook, WEBHOOKS_PATH, webhookIn } from './webhooks.ts';

/** internals/interface.md, "Admin API": always paged. */
const PAGE_DEFAULT = 100;
/** As many as a page of the list may have. */
const REPLAYED_MAX = 1_000;

const IDS = `must be 1–${REPLAYED_MAX} ids of deliveries`;
export const replayForm = strictForm({
  ids: measured(
    REPLAYED_MAX,
    z.array(z.uuid('must be the id of a delivery'), IDS).min(1, IDS).max(REPLAYED_MAX),
  ).optional(),
  state: z.literal('dead', 'must be dead').optional(),
});

/** The list, and the replay. */
export function webhookDeliveryRoutes(sql: SqlPool): readonly ApiRoute[] {
  const path = `${WEBHOOKS_PATH}/:id/deliveries`;
  return [
    {
      operation: 'listWebhookDeliveries',
      api: 'admin',
      needs: 'super-user',
      method: 'GET',
      path,
      bodyBytesMax: 0,
      handle: (request, caller) => list(sql, request, caller),
    },
    {
      operation: 'replayWebhookDeliveries',
      api: 'admin',
      needs: 'super-user',
      method: 'POST',
      path: `${path}/replay`,
      bodyBytesMax: BODY_BYTES_MAX,
      handle: (request, caller) => replay(sql, request, caller),
    },
  ];
}

async function list(sql: Sql, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
  const query = new QueryReader(request.query, ['limit', 'cursor', 'state']);
  const page = { limit: query.limit() ?? PAGE_DEFAULT, after: query.idCursor() };
  const state = query.choice('state', DELIVERY_STATES);
  if (query.faults.length > 0) return invalid(request, query.faults);
  const webhook = await webhookIn(sql, request, caller);
  if (webhook === null) return unknownWebhook(request);
  return answerList<ListedDelivery, string | null>(request, page, {
    read: (before, limit) => listDeliveries(sql, webhook.id, { state, before, limit }),
    keyOf: ({ id }) => id,
    show: shown,
  });
}

const shown = (delivery: ListedDelivery) => ({
  id: delivery.id,
  state: delivery.state,
  eventCount: delivery.eventCount,
  attempts: delivery.attempts,
  createdAt: delivery.createdAtMs,
  lastAttemptAt: delivery.lastAttemptAtMs ?? undefined,
  nextAttemptAt: delivery.nextAttemptAtMs ?? undefined,
  status: delivery.status ?? undefined,
  fault: delivery.fault ?? undefined,
});

function replay(
  sql: SqlPool,
  request: HttpRequest,
  caller: Caller,
): HttpResponse | Promise<HttpResponse> {
  const read = readJsonBody(request, replayForm);
  if (!read.ok) return read.response;
  const { ids = null, state } = read.value;
  if ((ids === null) === (state === undefined)) {
    return invalid(request, [{ path: 'ids', message: 'must be given, or state; not both' }]);
  }
  return asSuperUser(sql, request, caller, async (tx, origin) => {
    const webhook = await webhookIn(tx, request, caller);
    if (webhook === null) return unknownWebhook(request);
    const deliveries = await replayDeliveries(tx, webhook.id, ids);
    if (deliveries > 0) {
      await recordChange(tx, origin, {
        action: 'webhook.replay',
        id: webhook.id,
        name: hostOf(webhook),
        detail: { deliveries },
      });
    }
    return json({ replayed: deliveries });
  });
}
