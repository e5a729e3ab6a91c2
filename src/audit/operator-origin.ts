/** The actor of changes by the operator's routes, for the client's audit log. */

import type { AuditOrigin } from '../domain/audit.ts';

export const operatorOrigin = (clientId: number): AuditOrigin => ({
  clientId,
  actor: { kind: 'operator' },
  address: null,
  requestId: null,
});
