/** A page of the list of notifications, by what the address says. */

import type { ListedNotification } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';
import { cursorOf, startOfDay } from './page.ts';

export const STATES = [
  'RUNNING',
  'QUEUED',
  'SCHEDULED',
  'PAUSED',
  'FINISHED',
  'FAILED',
  'CANCELLED',
] as const;

/** The filter for those that ended, and that a fault stopped on some platform, as a state. */
export const PARTLY_FAILED = 'PARTLY_FAILED';

export interface NotificationPage {
  readonly rows: readonly ListedNotification[];
  readonly cursor: string | null;
}

const PAGE_ROWS = 50;

export async function listNotifications(
  api: ClientApi,
  query: URLSearchParams,
  signal: AbortSignal,
  limit = PAGE_ROWS,
): Promise<NotificationPage> {
  const state = STATES.find((one) => one === query.get('state'));
  const appId = Number(query.get('appId'));
  const tagId = Number(query.get('tagId'));
  const publisher = query.get('publisher');
  const q = query.get('q');
  const isPartly = query.get('state') === PARTLY_FAILED;
  const from = startOfDay(query.get('from'), 0);
  const to = startOfDay(query.get('to'), 1);
  const cursor = query.get('cursor');
  const { body, headers } = await api.request('GET', '/push-api/v3/{client}/notifications', {
    query: {
      limit,
      ...(state === undefined ? {} : { state }),
      ...(appId > 0 ? { appId } : {}),
      ...(tagId > 0 ? { tagId } : {}),
      ...(q === null ? {} : { q }),
      ...(publisher === null ? {} : { publisher }),
      ...(isPartly ? { state: 'FINISHED' as const, hasFaults: 'true' as const } : {}),
      ...(from === null ? {} : { from }),
      ...(to === null ? {} : { to }),
      ...(cursor === null ? {} : { cursor }),
    },
    signal,
  });
  return { rows: body, cursor: cursorOf(headers) };
}

/** The client, if one of its notifications is being sent; null: none is. */
export async function sendingClient(api: ClientApi, signal: AbortSignal): Promise<string | null> {
  const { body } = await api.request('GET', '/push-api/v3/{client}/notifications', {
    query: { limit: 1, state: 'RUNNING' },
    signal,
  });
  return body.length === 0 ? null : api.clientId;
}
