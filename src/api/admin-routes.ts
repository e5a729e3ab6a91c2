/** The Admin API: what operators of a client and their tools call. */

import { credentialRoutes } from '../access/routes/credentials.ts';
import { attributeRoutes } from '../attributes/routes/attributes.ts';
import { auditRoute } from '../audit/routes/audit.ts';
import { appResourceRoutes } from '../catalogue/routes/app-resources.ts';
import { appRoutes } from '../catalogue/routes/apps.ts';
import { removalsRoute } from '../catalogue/routes/removals.ts';
import { tagGroupResourceRoutes } from '../catalogue/routes/tag-group-resources.ts';
import type { TagResourceParts } from '../catalogue/routes/tag-resources.ts';
import { tagResourceRoutes } from '../catalogue/routes/tag-resources.ts';
import { tagRoutes } from '../catalogue/routes/tags.ts';
import { settingsRoutes } from '../clients/routes/settings.ts';
import type { SqlPool } from '../database/sql.ts';
import type { AppDeviceParts } from '../devices/routes/app-devices.ts';
import { appDeviceRoutes } from '../devices/routes/app-devices.ts';
import type { BulkRequestParts } from '../devices/routes/bulk-requests.ts';
import { bulkRequestRoutes } from '../devices/routes/bulk-requests.ts';
import { bulkResourceRoutes } from '../devices/routes/bulk-resources.ts';
import type { Route } from '../http/handler.ts';
import type { KeyRouteParts } from '../keys/routes/keys.ts';
import { keyRoutes } from '../keys/routes/keys.ts';
import { appPlatformRoutes } from '../provider-credentials/routes/app-platforms.ts';
import type { AppPlatformParts } from '../provider-credentials/routes/credential-body.ts';
import { historyRoute } from '../push/routes/history.ts';
import { statsAppRoute } from '../statistics/routes/stats-app.ts';
import { statsTagRoute } from '../statistics/routes/stats-tag.ts';
import type { AppTemplateParts } from '../templates/routes/app-templates.ts';
import { appTemplateRoutes } from '../templates/routes/app-templates.ts';
import { webhookDeliveryRoutes } from '../webhooks/routes/webhook-deliveries.ts';
import type { WebhookRouteParts } from '../webhooks/routes/webhooks.ts';
import { webhookRoutes } from '../webhooks/routes/webhooks.ts';

interface AdminApi
  extends TagResourceParts,
    AppPlatformParts,
    AppTemplateParts,
    AppDeviceParts,
    BulkRequestParts,
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
  ...attributeRoutes(api),
  ...appDeviceRoutes(api),
  ...bulkRequestRoutes(api),
  ...bulkResourceRoutes(api.sql),
  removalsRoute(api.patientReads),
  statsTagRoute(api),
  statsAppRoute(api),
  ...settingsRoutes(api.sql),
  ...credentialRoutes(api),
  ...keyRoutes(api),
  ...webhookRoutes(api),
  ...webhookDeliveryRoutes(api.sql),
  auditRoute(api.patientReads),
];
