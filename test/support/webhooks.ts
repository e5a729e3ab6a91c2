/** Webhooks as rows, and nodes that deliver. */

import type { Sql, SqlPool } from '../../src/database/sql.ts';
import type { WebhookEventType } from '../../src/domain/webhook.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/domain/webhook.ts';
import type { DeliveryOutcome, WebhookDelivererOptions } from '../../src/webhooks/deliverer.ts';
import { WebhookDeliverer } from '../../src/webhooks/deliverer.ts';
import { makeWebhookSecret, sealWebhookSecret } from '../../src/webhooks/secret.ts';
import { insertWebhook, nextWebhookId } from '../../src/webhooks/sql/webhooks.ts';
import { secrets } from './api.ts';
import { silent } from './app-api.ts';

export interface MadeWebhook {
  readonly id: number;
  readonly secret: string;
}

export async function makeWebhook(
  sql: Sql,
  clientId: number,
  url: string,
  eventTypes: readonly WebhookEventType[] = WEBHOOK_EVENT_TYPES,
): Promise<MadeWebhook> {
  const id = await nextWebhookId(sql);
  const secret = makeWebhookSecret();
  const terms = { url, eventTypes, isEnabled: true };
  await insertWebhook(sql, clientId, id, terms, sealWebhookSecret(secrets, id, secret));
  return { id, secret };
}

/** Adds waiting events. */
export const addEvents = (sql: Sql, webhookId: number, count: number, data: object = {}) => sql`
  insert into webhook_events (webhook_id, type, data)
  select ${webhookId}, 'job.finished', (${JSON.stringify(data)}::text::jsonb || jsonb_build_object('n', n))::json
  from generate_series(1, ${count}::integer) n`;

export interface WebhookNode extends WebhookDeliverer {
  readonly outcomes: readonly DeliveryOutcome[];
}

/** A node whose receivers are on this machine, and that tries again at once. */
export function webhookNode(
  sql: SqlPool,
  options: Partial<WebhookDelivererOptions> = {},
): WebhookNode {
  const outcomes: DeliveryOutcome[] = [];
  const node = new WebhookDeliverer({
    sql,
    secrets,
    log: silent,
    agent: 'Tagcast/test',
    isPrivateAllowed: true,
    onAttempt: (outcome) => outcomes.push(outcome),
    attemptBackoff: { baseMs: 0, capMs: 0 },
    restBackoff: { baseMs: 0, capMs: 0 },
    ...options,
  });
  return Object.assign(node, { outcomes });
}
