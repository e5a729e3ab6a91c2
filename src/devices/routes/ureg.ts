/** `POST /push-api/ureg`: unsubscribes a device from tags, or, with none given, from all. */

import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { AppApi } from './app-api.ts';
import { changeDevice, deviceChange } from './change-device.ts';

export const uregRoute = (api: AppApi): Route => ({
  operation: 'unsubscribeDevice',
  document: deviceChange(
    'Unsubscribe a device from tags',
    'From the tags that are given, or from all when neither `tagId` nor `tagSourceId` is there. It finds every tag of the client, expired and disconnected ones too. Without both, when an unknown field looks like tags (`tag`, `tags`, `tagIds`, `tag_id`, `tagSourceIds` and the like), nothing is removed, and `Tagcast-Ignored` names the field. A device without tags is kept for `DEVICE_RETENTION_DAYS` and a day, then erased.',
    { tagSourceId: 'breaking-news' },
  ),
  method: 'POST',
  path: '/push-api/ureg',
  api: 'app',
  rate: 'registrations',
  bodyBytesMax: BODY_BYTES_MAX,
  handle: (request, caller) => changeDevice(api, 'ureg', request, caller),
});
