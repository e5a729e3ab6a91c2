/** The App API's parameters for the OpenAPI document; `parameters.ts` reads them by hand. */

import { z } from 'zod';
import { DEVICE_ID_LENGTH_MAX } from '../../domain/device.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { looseId } from '../../http/openapi/parts.ts';
import { attributeFields } from './attribute-forms.ts';

/** The parameters of requests for one app on one platform. */
export const scopeParameters = z.looseObject({
  appId: looseId,
  platformId: looseId.meta({ description: '3: iOS, 15: Android, 7: web.' }),
});
export const SCOPE = { appId: 1, platformId: 3 };

export const deviceParameters = scopeParameters.extend({
  deviceId: z.string().min(1).max(DEVICE_ID_LENGTH_MAX).meta({
    description:
      'What the provider gave to the app. iOS: its token, kept in lower case where it is hex. Android: its token or installation id. Web: the JSON text of the subscription, `JSON.stringify(await registration.pushManager.subscribe(…))`, or what Android has. The text identifies the device: send exactly the same text each time; do not parse and serialize it again.',
  }),
});
export const DEVICE = { ...SCOPE, deviceId: 'ab'.repeat(32) };

const tagId = z.union([looseId, z.looseObject({ id: looseId })]);
const oneOrSome = <T extends z.ZodType>(entry: T) =>
  z.union([entry, z.array(entry).max(TAGS_PER_REQUEST_MAX)]);

export const changeParameters = deviceParameters
  .extend({
    tagId: oneOrSome(tagId).optional().meta({
      description: 'Ids of tags, or tags as `list` answers them. With `tagSourceId`: both.',
    }),
    tagSourceId: oneOrSome(z.string()).optional().meta({ description: 'sourceIds of tags.' }),
    ...attributeFields,
    attributes: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .nullish()
      .meta({
        description:
          'Of `reg` and `set`: what is to be known of the device, by the names of attributes. null clears one; absent ones stay. `language`: BCP 47. `timezone`: a name such as `Europe/Zurich`. `country`: two letters. `appVersion`, `osVersion`: numbers with dots. And those that the client has declared (`declareAttribute`).',
      }),
  })
  .meta({ id: 'DeviceTagsRequest' });
