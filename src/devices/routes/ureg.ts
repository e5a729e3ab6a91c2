/** `POST /push-api/ureg`: unsubscribes a device from tags, or, with none given, from all. */

import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { AppApi } from './app-api.ts';
import { changeDevice, deviceChange } from './change-device.ts';

export const uregRoute = (api: AppApi): Route => ({
  operation: 'unsubscribeDevice',
  document: deviceChange(
    'Unsubscribe a device from tags',
    'Unsubscribes the device from the tags, or from all of them when neither `tagId` nor `tagSourceId` is there.',
    { tagSourceId: 'breaking-news' },
  ),
  method: 'POST',
  path: '/push-api/ureg',
  api: 'app',
  rate: 'registrations',
  bodyBytesMax: BODY_BYTES_MAX,
  handle: (request, caller) => changeDevice(api, 'ureg', request, caller),
});
