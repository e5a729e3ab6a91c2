/** Columns that rows of several statements have. */

import type { Scope } from '../domain/device.ts';
import type { DeviceGroupKey, DevicePlace } from '../domain/device-group-change.ts';
import type { NotificationScope } from '../domain/notification.ts';
import type { Columns } from './rows.ts';
import { integer, smallint, uuid } from './rows.ts';

export const SCOPE: Columns<Scope> = {
  app_id: integer(({ appId }) => appId),
  platform_id: smallint(({ platformId }) => platformId),
};

export const DEVICE_PLACE: Columns<DevicePlace> = {
  ...SCOPE,
  ordinal: integer(({ ordinal }) => ordinal),
};

export const DEVICE_GROUP_KEY: Columns<DeviceGroupKey> = {
  ...SCOPE,
  group_number: integer(({ groupNumber }) => groupNumber),
};

export const NOTIFICATION_SCOPE: Columns<NotificationScope> = {
  notification_id: uuid(({ notificationId }) => notificationId),
  ...SCOPE,
};
