/** The webhooks of the client, and what was sent to them. */

import type { Webhook, WebhookDelivery } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';
import { cursorOf } from './page.ts';

const WEBHOOKS = '/push-admin-api/v3/{client}/webhooks';
const WEBHOOK = `${WEBHOOKS}/{id}` as const;
/** More than a client may have. */
const WEBHOOKS_MAX = 1_000;
const PAGE_ROWS = 50;

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;

export interface DeliveryPage {
  readonly rows: readonly WebhookDelivery[];
  readonly cursor: string | null;
}

export async function listWebhooks(
  api: ClientApi,
  signal: AbortSignal,
): Promise<readonly Webhook[]> {
  return (await api.request('GET', WEBHOOKS, { query: { limit: WEBHOOKS_MAX }, signal })).body;
}

export async function readWebhook(
  api: ClientApi,
  id: number,
  signal: AbortSignal,
): Promise<Webhook> {
  return (await api.request('GET', WEBHOOK, { path: { id }, signal })).body;
}

/** A page of them by what the address says, newest first. */
export async function listDeliveries(
  api: ClientApi,
  id: number,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<DeliveryPage> {
  const state = DELIVERY_STATES.find((one) => one === query.get('state'));
  const cursor = query.get('cursor');
  const { body, headers } = await api.request('GET', `${WEBHOOK}/deliveries`, {
    path: { id },
    query: {
      limit: PAGE_ROWS,
      ...(state === undefined ? {} : { state }),
      ...(cursor === null ? {} : { cursor }),
    },
    signal,
  });
  return { rows: body, cursor: cursorOf(headers) };
}

/** Sends one again, or all that were given up. Answers how many. */
export async function replayDeliveries(
  api: ClientApi,
  id: number,
  deliveryId: string | null,
): Promise<number> {
  const { body } = await api.request('POST', `${WEBHOOK}/deliveries/replay`, {
    path: { id },
    body: deliveryId === null ? { state: 'dead' } : { ids: [deliveryId] },
  });
  return body.replayed;
}
