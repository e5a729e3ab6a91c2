/** `POST /push-api/set`: replaces all tags; ignored when the request gives no known tag. */

import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { AppApi } from './app-api.ts';
import { changeDevice, deviceChange } from './change-device.ts';

export const setRoute = (api: AppApi): Route => ({
  operation: 'setDeviceTags',
  document: deviceChange(
    'Replace all tags of a device',
    'The given tags replace all others. Without tags, or with only tags that cannot be subscribed to, nothing changes.',
    { tagId: 2 },
  ),
  method: 'POST',
  path: '/push-api/set',
  api: 'app',
  rate: 'registrations',
  bodyBytesMax: BODY_BYTES_MAX,
  handle: (request, caller) => changeDevice(api, 'set', request, caller),
});
