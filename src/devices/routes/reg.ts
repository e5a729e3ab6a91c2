/** `POST /push-api/reg`: subscribes a device to tags; its other tags are not affected. */

import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import type { AppApi } from './app-api.ts';
import { changeDevice, deviceChange } from './change-device.ts';

export const regRoute = (api: AppApi): Route => ({
  operation: 'subscribeDevice',
  document: deviceChange(
    'Subscribe a device to tags',
    `Its other tags stay. A new device is registered, without a usable tag too. A registration that changes nothing is written at most once in \`REGISTRATION_REFRESH_HOURS\`.

\`Tagcast-Ignored\`, here and of \`ureg\` and \`set\`, names what was not used:

- \`body\`: it is no JSON object, not UTF-8, or above 64 KiB. Nothing was done. A byte order mark before it is skipped.
- \`body, content-encoding\`: it is compressed. Nothing was done.
- \`appId\`, \`platformId\`, \`deviceId\`: missing, malformed, or not of this credential. Nothing was done.
- \`tagId\`, \`tagSourceId\`: some or all of them are unknown, expired, not connected to the app, malformed, or beyond \`TAGS_PER_DEVICE_MAX\`. The others count. With more than 1,000 in one request nothing was done. On \`reg\` and \`set\` without tags: none were given.
- \`appVersion\`, \`attributes\`: malformed. The rest was done.
- \`attributes.plan\`: this attribute is not declared, not the app's to set, or its value is none of its type; or it is beyond the 40 of a request. \`attributes.plan=full\`: the value is new, and there is no room for it, for now or for good. \`=later\`: a node of an earlier version is at work, or the value cannot be kept now. The rest was done.
- Any other name: a field that is not known, such as \`tagIds\` for \`tagId\`. The first ten are named, cut at 64 characters, with \`?\` for characters that a header cannot hold.

\`429\`: more than \`REGISTRATIONS_PER_SECOND_MAX\` of one app from one address, or a new device when the app has \`DEVICES_PER_APP_MAX\` or its client has its limit of devices.`,
    { tagId: [2] },
  ),
  method: 'POST',
  path: '/push-api/reg',
  api: 'app',
  rate: 'registrations',
  bodyBytesMax: BODY_BYTES_MAX,
  handle: (request, caller) => changeDevice(api, 'reg', request, caller),
});
