/**
 * The documents of routes that do not carry their own yet, by the ids of their operations. Loaded
 * when somebody asks for the document.
 */

import type { Operations } from '../../http/openapi/operation.ts';
import { appPlatformOperations } from '../../provider-credentials/routes/app-platform-operations.ts';
import { openOperations } from '../open/operations.ts';
import { systemOperations } from '../open/system-operations.ts';

export const OPERATIONS: Operations = {
  ...appPlatformOperations,
  ...systemOperations,
  ...openOperations,
};
