/** Devices, as the app of a guide may have left them in the engine, or have found them there. */

import { post } from '../client.ts';
import type { Demo } from '../processes.ts';

interface Device {
  readonly platformId: number;
  readonly deviceId: string;
}

/** The attributes by which the engine knows it; none of a device that it does not know. */
export async function attributesOf(
  { baseUrl, clientId, appId, apiUser }: Demo,
  device: Device,
): Promise<Readonly<Record<string, unknown>>> {
  const url = `${baseUrl}/push-api/v3/${clientId}/device`;
  const answer = await post(url, apiUser.token, { appId, ...device });
  const { attributes = {} } = (await answer.json()) as {
    readonly attributes?: Readonly<Record<string, unknown>>;
  };
  return attributes;
}

export async function register(
  { baseUrl, appId, apiUser }: Demo,
  device: Device,
  tag: string,
): Promise<void> {
  const body = { appId, ...device, tagSourceId: tag };
  const answer = await post(`${baseUrl}/push-api/reg`, apiUser.token, body);
  const text = await answer.text();
  if (text !== 'OK') throw new Error(`${answer.status}: ${text}`);
}

/** In order; none of a device that the engine does not know. */
export async function tagsOf(
  { baseUrl, appId, apiUser }: Demo,
  device: Device,
): Promise<readonly string[]> {
  const body = { appId, ...device };
  const answer = await post(`${baseUrl}/push-api/list`, apiUser.token, body);
  const tags = (await answer.json()) as readonly { readonly sourceId: string }[];
  return tags.map(({ sourceId }) => sourceId).toSorted();
}
