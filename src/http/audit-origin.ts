/** The actor of a request and its address, for the audit log. */

import type { AuditActor, AuditOrigin } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import type { HttpRequest } from './handler.ts';

export const originOf = ({ address, requestId }: HttpRequest, caller: Caller): AuditOrigin => ({
  clientId: caller.clientId,
  actor: actorOf(caller),
  address,
  requestId,
});

function actorOf({ account, key, userName }: Caller): AuditActor {
  if (account !== undefined) return { kind: 'account', id: account.id, name: account.email };
  const keyId = key?.id ?? null;
  return keyId === null ? { kind: 'credential', name: userName } : { kind: 'key', id: keyId };
}
