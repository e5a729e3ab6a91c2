/** Replaces the credential of a client's super user, or of the API user of one of its apps. */

import { findAppClient } from '../clients/find-app.ts';
import type { Sql } from '../database/sql.ts';
import type { AuditedChange } from '../domain/audit.ts';
import type { CredentialOwner, ShownCredential } from './credentials.ts';
import { rotateCredential } from './credentials.ts';
import type { Secrets } from './secrets.ts';

/** The previous one works for `graceHours` more. Null: the client has no such app. */
export async function renewCredential(
  tx: Sql,
  secrets: Secrets,
  owner: CredentialOwner,
  graceHours: number,
  record: (change: AuditedChange) => Promise<void>,
): Promise<ShownCredential | null> {
  const { clientId, appId } = owner;
  if (appId !== null && (await findAppClient(tx, appId))?.clientId !== clientId) return null;
  const made = await rotateCredential(tx, secrets, owner, graceHours);
  const whose = appId === null ? { role: 'super-user' } : { role: 'api-user', appId };
  const detail = { ...whose, graceHours };
  await record({ action: 'credential.rotate', id: null, name: made.username, detail });
  return made;
}
