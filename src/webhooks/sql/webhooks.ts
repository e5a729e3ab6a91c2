/** The webhooks of a client: made, listed, changed, deleted. */

import type { Sql } from '../../database/sql.ts';
import { textList } from '../../database/sql.ts';
import type { WebhookEventType } from '../../domain/webhook.ts';

export interface SealedSecret {
  readonly sealed: Buffer;
  readonly keyId: string;
}

export interface WebhookTerms {
  readonly url: string;
  readonly eventTypes: readonly WebhookEventType[];
  readonly isEnabled: boolean;
}

export interface ListedWebhook extends WebhookTerms {
  readonly id: number;
  readonly createdAt: number;
  /** Requests that failed in a row. */
  readonly failures: number;
  /** Events that were deleted unsent, because too many waited. */
  readonly droppedEvents: number;
  /** When its receiver answered 410, by which it was turned off. Null: it has not. */
  readonly goneAt: number | null;
}

/** The id of the webhook that is made next: its secret is sealed for it. */
export async function nextWebhookId(tx: Sql): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('webhooks', 'id'))::integer as id`;
  return row?.id ?? 0;
}

export const insertWebhook = (
  tx: Sql,
  clientId: number,
  id: number,
  { url, eventTypes, isEnabled }: WebhookTerms,
  { sealed, keyId }: SealedSecret,
) => tx`
  insert into webhooks (id, client_id, url, event_types, is_enabled, secret_sealed, secret_key_id)
  values (${id}, ${clientId}, ${url}, ${textList(eventTypes)}::text[], ${isEnabled}, ${sealed}, ${keyId})`;

export async function countWebhooks(sql: Sql, clientId: number): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*) from webhooks where client_id = ${clientId}`;
  return row?.count ?? 0;
}

export const listWebhooks = (
  sql: Sql,
  clientId: number,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<readonly ListedWebhook[]> =>
  sql<ListedWebhook[]>`
    select ${listed(sql)} from webhooks
    where client_id = ${clientId} and id > ${afterId} order by id limit ${limit}`;

export async function findWebhook(
  sql: Sql,
  clientId: number,
  id: number,
): Promise<ListedWebhook | null> {
  const [webhook] = await sql<ListedWebhook[]>`
    select ${listed(sql)} from webhooks where client_id = ${clientId} and id = ${id}`;
  return webhook ?? null;
}

const listed = (sql: Sql) => sql`
  id, url, event_types as "eventTypes", is_enabled as "isEnabled", failures, dropped_events as "droppedEvents",
  floor(extract(epoch from created_at) * 1000)::float8 as "createdAt",
  floor(extract(epoch from gone_at) * 1000)::float8 as "goneAt"`;

/** A change is tried at once: the receiver's rest ends. */
export const changeWebhook = (
  tx: Sql,
  id: number,
  { url, eventTypes, isEnabled }: WebhookTerms,
) => tx`
  update webhooks set url = ${url}, event_types = ${textList(eventTypes)}::text[], is_enabled = ${isEnabled},
    gone_at = case when ${isEnabled}::boolean then null else gone_at end,
    not_before = case when failures > 0 then now() else not_before end, failures = 0
  where id = ${id}`;

/** The secret before it works for so long. */
export const replaceSecret = (
  tx: Sql,
  id: number,
  { sealed, keyId }: SealedSecret,
  graceHours: number,
) => tx`
  update webhooks set
    previous_sealed = case when ${graceHours}::integer > 0 then secret_sealed end,
    previous_key_id = case when ${graceHours}::integer > 0 then secret_key_id end,
    previous_until = case when ${graceHours}::integer > 0 then now() + make_interval(hours => ${graceHours}::integer) end,
    secret_sealed = ${sealed}, secret_key_id = ${keyId}
  where id = ${id}`;

export async function deleteWebhook(tx: Sql, id: number): Promise<void> {
  await tx`delete from webhooks where id = ${id}`;
  await tx`delete from webhook_events where webhook_id = ${id}`;
}
