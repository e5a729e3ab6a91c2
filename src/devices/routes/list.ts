/** `POST /push-api/list`: the tags of a device. */

import { tagObject } from '../../catalogue/tag-object.ts';
import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { deviceRef } from '../operation.ts';
import type { AppApi } from './app-api.ts';
import { readScope, refused } from './scope.ts';

const DEVICE_FAULT = { path: 'deviceId', message: 'must be a string of 1 to 4,096 characters' };

export const listRoute = (api: AppApi): Route => ({
  operation: 'listDeviceTags',
  method: 'POST',
  path: '/push-api/list',
  api: 'app',
  bodyBytesMax: BODY_BYTES_MAX,
  async handle(request, caller) {
    const scope = await readScope(api.catalogue, request, caller, ({ deviceId }) =>
      deviceId === null ? [DEVICE_FAULT] : [],
    );
    if (!scope.ok) return scope.response;
    const { deviceId } = scope.parameters;
    if (deviceId === null) return refused(request, [DEVICE_FAULT]).response;
    const device = deviceRef(scope.appId, scope.platformId, deviceId);
    const tags = await api.deviceTags.of(device);
    return {
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(tags.map(tagObject)),
    };
  },
});
