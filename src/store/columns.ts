/** Columns that rows of several statements have. */

import type { PlatformOfApp } from '../domain/device.ts';
import type { DevicePlace, GroupKey } from '../domain/group-change.ts';
import type { NotificationScope } from '../domain/notification.ts';
import type { Columns } from './rows.ts';
import { integer, smallint, uuid } from './rows.ts';

export const PLATFORM_OF_APP: Columns<PlatformOfApp> = {
  app_id: integer(({ appId }) => appId),
  platform_id: smallint(({ platformId }) => platformId),
};

export const DEVICE_PLACE: Columns<DevicePlace> = {
  ...PLATFORM_OF_APP,
  ordinal: integer(({ ordinal }) => ordinal),
};

export const GROUP_KEY: Columns<GroupKey> = {
  ...PLATFORM_OF_APP,
  group_number: integer(({ groupNumber }) => groupNumber),
};

export const NOTIFICATION_SCOPE: Columns<NotificationScope> = {
  notification_id: uuid(({ notificationId }) => notificationId),
  ...PLATFORM_OF_APP,
};
