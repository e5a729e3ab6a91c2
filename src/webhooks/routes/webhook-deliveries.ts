/** `webhooks/<id>/deliveries`: what was sent to a webhook, and sending it again. */

import { z } from 'zod';
import { asSuperUser } from '../../access/routes/in-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import { DELIVERY_STATES } from '../../domain/webhook.ts';
import { listed, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, epochMs, orAbsent, word } from '../../http/openapi/parts.ts';
import { choice, idCursor, limitOr, pathId } from '../../http/parameters.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { listDeliveries, replayDeliveries } from '../sql/deliveries.ts';
import { findWebhook } from '../sql/webhooks.ts';
import { hostOf } from './webhooks.ts';

/**
 * internals/interface.md, "Admin API": always paged.
 * @limit deliveries on a page that names no limit
 */
const PAGE_DEFAULT = 100;
/**
 * The size of the longest page of the list.
 * @limit deliveries replayed by their ids in a request → `400`
 */
const REPLAYED_MAX = 1_000;

const IDS = `must be 1–${REPLAYED_MAX} ids of deliveries`;
const replayForm = strictForm({
  ids: measured(
    REPLAYED_MAX,
    z.array(z.uuid('must be the id of a delivery'), IDS).min(1, IDS).max(REPLAYED_MAX),
  ).optional(),
  state: z.literal('dead', 'must be dead').optional(),
}).refine(({ ids, state }) => (ids === undefined) !== (state === undefined), {
  path: ['ids'],
  error: 'must be given, or state; not both',
});

const delivery = z
  .object({
    id: z.uuid().meta({ description: 'The `webhook-id` of the request.' }),
    state: word(DELIVERY_STATES),
    eventCount: count,
    attempts: count,
    createdAt: epochMs,
    lastAttemptAt: orAbsent(epochMs),
    nextAttemptAt: orAbsent(epochMs),
    status: orAbsent(count.meta({ description: 'What the last attempt was answered.' })),
    fault: orAbsent(z.string().meta({ description: 'Why the last attempt failed.' })),
  })
  .meta({ id: 'WebhookDelivery' });
const DELIVERY = {
  id: '01979c5e-8b5a-7d1e-9f5b-0d5f3c1c9a77',
  state: 'dead',
  eventCount: 3,
  attempts: 14,
  createdAt: 1_795_392_000_000,
  lastAttemptAt: 1_795_452_000_000,
  status: 503,
  fault: 'answered 503',
};

const route = routesAt('/push-admin-api/v3/:client/webhooks/:id/deliveries', {
  api: 'admin',
  needs: 'super-user',
});
const path = { id: pathId('webhook', 1) };
const NO_WEBHOOK = refuse.unknown('webhook');

export const webhookDeliveryRoutes = (sql: SqlPool): readonly Route[] => [
  listRoute(sql),
  replayRoute(sql),
];

const listRoute = (sql: SqlPool) =>
  route.get(
    'listWebhookDeliveries',
    {
      summary: 'List the requests to a webhook, newest first',
      description: 'Those of the last seven days, up to 1,000.',
      path,
      query: {
        limit: limitOr(PAGE_DEFAULT),
        cursor: idCursor('ffffffff-ffff-7fff-bfff-ffffffffffff'),
        state: choice('Only those in this state.', DELIVERY_STATES, 'dead'),
      },
      answer: listed('The deliveries.', delivery, [DELIVERY]),
    },
    async ({ caller: { clientId }, path: { id }, query }) => {
      const { state } = query;
      if ((await findWebhook(sql, clientId, id)) === null) return NO_WEBHOOK;
      return rowsOf(query, {
        read: (before, limit) => listDeliveries(sql, id, { state, before, limit }),
        keyOf: (row) => row.id,
      });
    },
  );

const replayRoute = (sql: SqlPool) =>
  route.post(
    'replayWebhookDeliveries',
    {
      at: 'replay',
      summary: 'Send again what was given up, or what the receiver has lost',
      description:
        'Those with these `ids` that are not pending, or with `{"state":"dead"}` all that were given up: as new ones.',
      path,
      body: form(replayForm, { state: 'dead' }),
      answer: shown('How many.', z.object({ replayed: count }), { replayed: 3 }),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { path: { id }, body: { ids = null } }) => {
      const webhook = await findWebhook(tx, clientId, id);
      if (webhook === null) return NO_WEBHOOK;
      const replayed = await replayDeliveries(tx, id, ids);
      if (replayed > 0) {
        const detail = { deliveries: replayed };
        await record({ action: 'webhook.replay', id, name: hostOf(webhook), detail });
      }
      return done({ replayed });
    }),
  );
