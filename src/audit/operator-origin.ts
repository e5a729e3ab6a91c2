/** The actor of changes by the operator's routes, for audit logs and the log. */

import type { AuditOrigin } from '../domain/audit.ts';

export interface RequestSource {
  /** Empty: a command on the engine's machine, or on the database. */
  readonly address: string;
  readonly requestId: string;
}

/** Where a request came from, and its id; null: a command, which has neither. */
export const sourceOf = ({ address, requestId }: RequestSource) =>
  address === '' ? { address: null, requestId: null } : { address, requestId };

export const operatorOrigin = (clientId: number, request: RequestSource): AuditOrigin => ({
  clientId,
  actor: { kind: 'operator' },
  ...sourceOf(request),
});
