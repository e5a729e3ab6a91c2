/**
 * All operations of the service. A route names its own by the id: what has none of these does not
 * compile. Loaded when somebody asks for the document.
 */

import { appResourceOperations } from '../admin/app-operations.ts';
import { appPlatformOperations } from '../admin/app-platform-operations.ts';
import { appTemplateOperations } from '../admin/app-template-operations.ts';
import { auditOperations } from '../admin/audit-operations.ts';
import { bulkOperations } from '../admin/bulk-operations.ts';
import { credentialOperations } from '../admin/credential-operations.ts';
import { statisticsOperations } from '../admin/statistics-operations.ts';
import { tagGroupOperations } from '../admin/tag-group-operations.ts';
import { tagOperations } from '../admin/tag-operations.ts';
import { tagResourceOperations } from '../admin/tag-resource-operations.ts';
import { webhookOperations } from '../admin/webhook-operations.ts';
import { appOperations } from '../app-api/operations.ts';
import { memberOperations } from '../console/member-operations.ts';
import { sessionOperations } from '../console/session-operations.ts';
import { jobOperations } from '../notifications/job-operations.ts';
import { pushOperations } from '../notifications/push-operations.ts';
import { openOperations } from '../open/operations.ts';
import { systemOperations } from '../operator/system-operations.ts';

export const OPERATIONS = {
  ...appOperations,
  ...pushOperations,
  ...jobOperations,
  ...tagOperations,
  ...tagResourceOperations,
  ...tagGroupOperations,
  ...appResourceOperations,
  ...appPlatformOperations,
  ...appTemplateOperations,
  ...bulkOperations,
  ...statisticsOperations,
  ...credentialOperations,
  ...webhookOperations,
  ...auditOperations,
  ...sessionOperations,
  ...memberOperations,
  ...systemOperations,
  ...openOperations,
};

export type OperationId = keyof typeof OPERATIONS;
