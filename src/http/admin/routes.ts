/** The Admin API: what operators of a client and their tools call. */

import type { SqlPool } from '../../store/sql.ts';
import type { Route } from '../handler.ts';
import type { AppDeviceParts } from './app-devices.ts';
import { appDeviceRoutes } from './app-devices.ts';
import type { AppPlatformParts } from './app-platforms.ts';
import { appPlatformRoutes } from './app-platforms.ts';
import { appResourceRoutes } from './app-resources.ts';
import type { AppTemplateParts } from './app-templates.ts';
import { appTemplateRoutes } from './app-templates.ts';
import { appRoutes } from './apps.ts';
import { auditRoute } from './audit.ts';
import { bulkRequestRoutes } from './bulk-requests.ts';
import { bulkResourceRoutes } from './bulk-resources.ts';
import { credentialRoutes } from './credentials.ts';
import { historyRoute } from './history.ts';
import type { KeyRouteParts } from './keys.ts';
import { keyRoutes } from './keys.ts';
import { removalsRoute } from './removals.ts';
import { statsAppRoute } from './stats-app.ts';
import { statsTagRoute } from './stats-tag.ts';
import { tagGroupResourceRoutes } from './tag-group-resources.ts';
import type { TagResourceParts } from './tag-resources.ts';
import { tagResourceRoutes } from './tag-resources.ts';
import { tagRoutes } from './tags.ts';
import { webhookDeliveryRoutes } from './webhook-deliveries.ts';
import type { WebhookRouteParts } from './webhooks.ts';
import { webhookRoutes } from './webhooks.ts';

export interface AdminApi
  extends TagResourceParts,
    AppPlatformParts,
    AppTemplateParts,
    AppDeviceParts,
    WebhookRouteParts,
    KeyRouteParts {
  readonly sql: SqlPool;
}

export const adminRoutes = (api: AdminApi): readonly Route[] => [
  historyRoute(api.patientReads),
  ...tagRoutes(api.sql),
  ...tagResourceRoutes(api),
  ...tagGroupResourceRoutes(api),
  ...appRoutes(api),
  ...appResourceRoutes(api),
  ...appPlatformRoutes(api),
  ...appTemplateRoutes(api),
  ...appDeviceRoutes(api),
  ...bulkRequestRoutes(api),
  ...bulkResourceRoutes(api.sql),
  removalsRoute(api.patientReads),
  statsTagRoute(api),
  statsAppRoute(api),
  ...credentialRoutes(api),
  ...keyRoutes(api),
  ...webhookRoutes(api),
  ...webhookDeliveryRoutes(api.sql),
  auditRoute(api.patientReads),
];
