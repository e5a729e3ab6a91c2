/** By whom and from where a request changes something, for the audit log. */

import type { Caller } from '../access/caller.ts';
import type { AuditActor, AuditOrigin } from '../domain/audit.ts';
import type { HttpRequest } from './handler.ts';

export const originOf = ({ address, requestId }: HttpRequest, caller: Caller): AuditOrigin => ({
  clientId: caller.clientId,
  actor: actorOf(caller),
  address,
  requestId,
});

const actorOf = ({ key, userName }: Caller): AuditActor =>
  key === undefined ? { kind: 'credential', name: userName } : { kind: 'key', id: key.id };
