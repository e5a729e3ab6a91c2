/** Claims webhooks with waiting events for this node, for a while, after which another may. */

import { recordChange } from '../../audit/record-change.ts';
import { shareClient } from '../../clients/lock-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { SealedSecret } from './webhooks.ts';

export interface ClaimedWebhook {
  readonly id: number;
  readonly clientId: number;
  readonly url: string;
  readonly secret: SealedSecret;
  /** The secret before it, while it works. */
  readonly previous: SealedSecret | null;
  readonly failures: number;
  /** The end of the lease, as the database writes it: by it the claim is known. */
  readonly lease: string;
}

/** Those that wait longest, up to `limit`. */
export async function claimWebhooks(
  sql: Sql,
  limit: number,
  leaseMs: number,
): Promise<readonly ClaimedWebhook[]> {
  const rows = await sql<ClaimedRow[]>`
    with due as (
      select id from webhooks w
      where is_enabled and not_before <= now() and (
        exists (select from webhook_events where webhook_id = w.id)
        or exists (
          select from webhook_deliveries
          where webhook_id = w.id and state = 'pending' and due_at <= now()
        )
      )
      order by not_before, id limit ${limit}::integer
      for no key update skip locked
    )
    update webhooks w set not_before = now() + make_interval(secs => ${leaseMs}::float8 / 1000)
    from due where w.id = due.id
    returning w.id, w.client_id as "clientId", w.url, w.failures, w.not_before::text as lease,
      w.secret_sealed as sealed, w.secret_key_id as "keyId",
      case when w.previous_until > now() then w.previous_sealed end as "previousSealed",
      w.previous_key_id as "previousKeyId"`;
  return rows.map(({ sealed, keyId, previousSealed, previousKeyId, ...webhook }) => ({
    ...webhook,
    secret: { sealed, keyId },
    previous:
      previousSealed === null || previousKeyId === null
        ? null
        : { sealed: previousSealed, keyId: previousKeyId },
  }));
}

interface ClaimedRow extends Omit<ClaimedWebhook, 'secret' | 'previous'> {
  readonly sealed: Buffer;
  readonly keyId: string;
  readonly previousSealed: Buffer | null;
  readonly previousKeyId: string | null;
}

export interface Delivery {
  readonly id: string;
  /** The JSON array of its events. */
  readonly events: string;
  readonly eventCount: number;
  readonly createdAtMs: number;
  /** Those that have failed. */
  readonly attempts: number;
}

interface DeliverySize {
  readonly eventsMax: number;
  /** The size of the events as JSON; one event alone may have more. */
  readonly bytesMax: number;
}

/** A delivery due again, or else a new one with the given id. Null: nothing waits. */
export async function takeDelivery(
  sql: Sql,
  webhookId: number,
  newId: string,
  size: DeliverySize,
): Promise<Delivery | null> {
  const [due] = await sql<Delivery[]>`
    select ${delivery(sql)} from webhook_deliveries
    where webhook_id = ${webhookId} and state = 'pending' and due_at <= now()
    order by due_at, id limit 1`;
  return due ?? (await makeDelivery(sql, webhookId, newId, size));
}

const delivery = (sql: Sql) => sql`
  id, events::text as events, event_count as "eventCount", attempts,
  floor(extract(epoch from created_at) * 1000)::float8 as "createdAtMs"`;

/** In one statement: an event waits, or a delivery has it. */
async function makeDelivery(
  sql: Sql,
  webhookId: number,
  newId: string,
  { eventsMax, bytesMax }: DeliverySize,
): Promise<Delivery | null> {
  const [made] = await sql<Delivery[]>`
    with held as materialized (
      select id from webhooks where id = ${webhookId} for key share
    ),
    nearest as (
      select id, octet_length(data::text) as bytes from webhook_events
      where webhook_id = (select id from held) order by id limit ${eventsMax}::integer
    ),
    fitting as (
      select id from (
        select id, row_number() over (order by id) as place, sum(bytes) over (order by id) as bytes from nearest
      ) summed
      where place = 1 or bytes <= ${bytesMax}::integer
    ),
    taken as (
      delete from webhook_events where id = any (array(select id from fitting))
      returning id, type, at, data
    )
    insert into webhook_deliveries (id, webhook_id, events, event_count)
    select ${newId}::uuid, ${webhookId}::integer,
      json_agg(json_build_object(
        'type', type, 'timestamp', to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', data
      ) order by id),
      count(*)
    from taken having count(*) > 0
    returning ${delivery(sql)}`;
  return made ?? null;
}

export interface Attempt {
  /** Null: no answer came. */
  readonly status: number | null;
  /** Null: the receiver has it. */
  readonly fault: string | null;
  /** The receiver wants nothing any more, ever. */
  readonly isGone: boolean;
}

/** When it is tried again, null: never; and how long the receiver rests. */
export interface Patience {
  readonly retryAfterMs: number | null;
  readonly restMs: number;
}

/**
 * Records an attempt, and releases the webhook. Locks the webhook's row first, as a deletion does.
 * One whose receiver is gone is turned off; not if its address was changed meanwhile.
 */
export const recordAttempt = (
  sql: SqlPool,
  webhook: ClaimedWebhook,
  deliveryId: string,
  { status, fault, isGone }: Attempt,
  { retryAfterMs, restMs }: Patience,
): Promise<{ readonly isTurnedOff: boolean }> =>
  transact(sql, async (tx) => {
    const isTurnedOff = isGone && (await turnOff(tx, webhook));
    await tx`
      update webhooks set
        failures = case when ${fault}::text is null then 0 else failures + 1 end,
        not_before = case when not_before = ${webhook.lease}::text::timestamptz then ${later(tx, restMs)} else not_before end
      where id = ${webhook.id}`;
    await tx`
      update webhook_deliveries set attempts = attempts + 1, last_attempt_at = now(),
        status = ${status}::integer, fault = ${fault}::text,
        state = case
          when ${fault}::text is null then 'delivered'
          when ${retryAfterMs}::float8 is null then 'dead'
          else state
        end,
        due_at = ${later(tx, retryAfterMs ?? 0)}
      where id = ${deliveryId}::uuid and state = 'pending'`;
    return { isTurnedOff };
  });

async function turnOff(tx: Sql, { id, clientId, url }: ClaimedWebhook): Promise<boolean> {
  await shareClient(tx, clientId);
  const { count } = await tx`
    update webhooks set is_enabled = false, gone_at = now()
    where id = ${id} and url = ${url} and is_enabled`;
  if (count === 0) return false;
  const origin = { clientId, actor: { kind: 'engine' }, address: null, requestId: null } as const;
  const change = { action: 'webhook.disable', id, name: new URL(url).host } as const;
  await recordChange(tx, origin, change);
  return true;
}

/** Gives a webhook back of which nothing was sent. */
export async function releaseWebhook(sql: Sql, { id, lease }: ClaimedWebhook): Promise<void> {
  await sql`
    update webhooks set not_before = now() where id = ${id} and not_before = ${lease}::text::timestamptz`;
}

const later = (sql: Sql, ms: number) => sql`now() + make_interval(secs => ${ms}::float8 / 1000)`;
