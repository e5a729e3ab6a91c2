/** The settings of the client, which its owners change. */

import type { ClientSettings } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';

export async function readSettings(api: ClientApi, signal: AbortSignal): Promise<ClientSettings> {
  const { body } = await api.request('GET', '/push-admin-api/v3/{client}/settings', { signal });
  return body;
}
