/** Registers a device from another address than the one that a test makes its trouble from. */

import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Demo } from './processes.ts';

/** From 127.0.0.2, on a connection of its own; answers the body. */
export async function registerFromElsewhere(
  demo: Demo,
  port: number,
  device: number,
): Promise<string> {
  const call = request({
    port,
    host: '127.0.0.1',
    localAddress: '127.0.0.2',
    method: 'POST',
    path: '/push-api/reg',
    headers: { Authorization: `Bearer ${demo.apiUser.token}` },
    agent: false,
  });
  call.end(
    JSON.stringify({
      appId: demo.appId,
      platformId: 3,
      tagId: [demo.tagIds[0]],
      deviceId: device.toString(16).padStart(64, '0'),
    }),
  );
  const [response] = await once(call, 'response');
  return text(response);
}
