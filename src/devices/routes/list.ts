/** `POST /push-api/list`: the tags of a device. */

import { z } from 'zod';
import { appTag } from '../../catalogue/routes/tag-schemas.ts';
import { tagObject } from '../../catalogue/tag-object.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { done } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { deviceRef } from '../operation.ts';
import type { AppApi } from './app-api.ts';
import { DEVICE, deviceParameters } from './parameter-schemas.ts';
import { invalidParameters, parametersOf, scopeOf } from './scope.ts';

const DEVICE_FAULT = { path: 'deviceId', message: 'must be a string of 1 to 4,096 characters' };

export const listRoute = (api: AppApi): Route =>
  routesAt('/push-api/list', { api: 'app' }).post(
    'listDeviceTags',
    {
      summary: 'List the tags of a device',
      description: 'Expired and disconnected tags are left out. An unknown device has none.',
      body: { schema: deviceParameters, example: DEVICE, read: parametersOf },
      answer: shown('Its tags, by id.', z.array(appTag), [
        { id: 2, name: 'Breaking news', sourceId: 'breaking-news' },
      ]),
      problems: [400],
    },
    async ({ caller, body }) => {
      const { deviceId } = body;
      const faults = deviceId === null ? [DEVICE_FAULT] : [];
      const scope = await scopeOf(api.catalogue, caller, body, faults);
      if (!scope.ok) return scope;
      if (deviceId === null) return invalidParameters(faults);
      const { appId, platformId } = scope.value;
      const tags = await api.deviceTags.of(deviceRef(appId, platformId, deviceId));
      return done(tags.map(tagObject));
    },
  );
