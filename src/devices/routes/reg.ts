/** `POST /push-api/reg`: subscribes a device to tags; its other tags are not affected. */

import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { AppApi } from './app-api.ts';
import { changeDevice, deviceChange } from './change-device.ts';

export const regRoute = (api: AppApi): Route => ({
  operation: 'subscribeDevice',
  document: deviceChange(
    'Subscribe a device to tags',
    'Subscribes the device to the tags; its other tags stay. Registers the device if it is new.',
    { tagId: [2] },
  ),
  method: 'POST',
  path: '/push-api/reg',
  api: 'app',
  rate: 'registrations',
  bodyBytesMax: BODY_BYTES_MAX,
  handle: (request, caller) => changeDevice(api, 'reg', request, caller),
});
