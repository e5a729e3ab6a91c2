/** The App API, which apps on devices call. */

import type { Route } from '../../http/handler.ts';
import type { AppApi } from './app-api.ts';
import { listRoute } from './list.ts';
import { ownDeviceRoutes } from './own-device.ts';
import { regRoute } from './reg.ts';
import { replaceRoute } from './replace.ts';
import { setRoute } from './set.ts';
import { tagsRoutes } from './tags.ts';
import { uregRoute } from './ureg.ts';

export const appApiRoutes = (api: AppApi): readonly Route[] => [
  regRoute(api),
  uregRoute(api),
  setRoute(api),
  replaceRoute(api),
  listRoute(api),
  ...ownDeviceRoutes(api),
  ...tagsRoutes(api),
];
