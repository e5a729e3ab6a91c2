/** `device` and `device/erase`: what an app may ask of its own device. */

import { z } from 'zod';
import { appTag } from '../../catalogue/routes/tag-schemas.ts';
import { tagObject } from '../../catalogue/tag-object.ts';
import type { Caller } from '../../domain/caller.ts';
import { secret, shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { epochMs } from '../../http/openapi/parts.ts';
import type { Result } from '../../http/result.ts';
import { done, refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { routesAt } from '../../http/route.ts';
import type { DeviceRef } from '../operation.ts';
import { deviceRef } from '../operation.ts';
import { attributesByName } from '../sql/known-attributes.ts';
import type { AppApi } from './app-api.ts';
import { attributeValues } from './attribute-forms.ts';
import { DEVICE, deviceParameters } from './parameter-schemas.ts';
import type { Parameters } from './parameters.ts';
import { invalidParameters, parametersOf, scopeOf } from './scope.ts';
import { tooMany } from './too-many.ts';

const ownDevice = z
  .object({
    registeredAt: epochMs.meta({
      description:
        'The beginning of the day, in UTC, of its first registration. Where that is not known, as of an imported device: as `lastSeenAt`.',
    }),
    lastSeenAt: epochMs.meta({
      description: 'When it last registered, or up to a day earlier. Milliseconds since 1970.',
    }),
    tags: z.array(appTag),
    attributes: attributeValues,
  })
  .meta({ id: 'OwnDevice' });

const DEVICE_FAULT = { path: 'deviceId', message: 'must be a string of 1 to 4,096 characters' };

/** `rate`: as of a registration, by app and address. */
const route = routesAt('/push-api/v3/:client/device', { api: 'app', rate: 'registrations' });
const body = { schema: deviceParameters, example: DEVICE, read: parametersOf };

export const ownDeviceRoutes = (api: AppApi): readonly Route[] => [
  route.post(
    'readOwnDevice',
    {
      summary: 'What is known of a device, for its app',
      description: 'Who has the deviceId is the device. `404`: it is not known.',
      body,
      answer: secret(
        shown('The device.', ownDevice, {
          registeredAt: 1_782_864_000_000,
          lastSeenAt: 1_795_392_000_000,
          tags: [{ id: 2, name: 'Breaking news', sourceId: 'breaking-news' }],
          attributes: { language: 'de-CH', appVersion: '5.2' },
        }),
      ),
      problems: [400, 404, 429],
    },
    onOwnDevice(api, async (device) => {
      const [known, tags] = await Promise.all([
        api.ownDevices.read(device),
        api.deviceTags.of(device),
      ]);
      if (known === null) return refused(404, 'This device is not known.');
      const attributes = attributesByName(known.attributes, { withPersonal: true });
      const { registeredAt, lastSeenAt } = known;
      return done({ registeredAt, lastSeenAt, tags: tags.map(tagObject), attributes });
    }),
  ),
  route.post(
    'eraseOwnDevice',
    {
      at: 'erase',
      summary: 'Erase a device, for its app',
      description:
        'It is gone for good, with its subscriptions, attributes and events. `OK`, whether it was known or not. A device that registers again is a new one.',
      body,
      answer: {
        status: 200,
        description: 'Erased, or not known.',
        content: { 'text/plain': { schema: z.literal('OK'), example: 'OK' } },
        write: () => ({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: 'OK' }),
      },
      problems: [400, 429],
    },
    onOwnDevice(api, async (device) => {
      await api.ownDevices.erase(device);
      return done(null);
    }),
  ),
];

/** A handler for the device that the body names, of the caller's app. */
function onOwnDevice<Value>(api: AppApi, handle: (device: DeviceRef) => Promise<Result<Value>>) {
  return async (asked: Asked<Caller, unknown, unknown, Parameters>): Promise<Result<Value>> => {
    const { caller, body, request } = asked;
    if (request.params['client'] !== caller.clientSlug) {
      return refused(403, 'This credential belongs to another client or app.');
    }
    const tooOften = tooMany(api, request, caller);
    if (tooOften !== null) return tooOften;
    const { deviceId } = body;
    const faults = deviceId === null ? [DEVICE_FAULT] : [];
    const scope = await scopeOf(api.catalogue, caller, body, faults);
    if (!scope.ok) return scope;
    if (deviceId === null) return invalidParameters(faults);
    const { appId, platformId } = scope.value;
    return handle(deviceRef(appId, platformId, deviceId));
  };
}
