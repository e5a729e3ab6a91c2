/**
 * The operator's actions on credentials of a client's super user and of apps' API users; a refusal
 * is a sentence.
 */

import { z } from 'zod';
import type { CredentialOwner, ShownCredential } from '../access/credentials.ts';
import { GRACE_HOURS_MAX, revealCredential, rotateCredential } from '../access/credentials.ts';
import type { Secrets } from '../access/secrets.ts';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import { findAppClient } from '../clients/find-app.ts';
import { findClient } from '../clients/find-client.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import { ID_MAX } from '../domain/tag.ts';

interface CredentialParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

type Answer = { readonly value: CredentialShown } | { readonly fault: string };

export interface CredentialShown {
  readonly credential: ShownCredential;
}

/** @limit characters of a client id (slug): 63 of `a-z 0-9 -` → the command refuses */
export const slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must be 1–63 lowercase letters, digits and hyphens, and not begin with a hyphen',
  );
export const id = z.int('must be an id').min(1, 'must be an id').max(ID_MAX, 'must be an id');
export const graceHours = z
  .int('must be whole hours')
  .min(0, `must be 0–${GRACE_HOURS_MAX}`)
  .max(GRACE_HOURS_MAX, `must be 0–${GRACE_HOURS_MAX}`);

/** `appId` null: the super user. */
const owner = z.object({ client: slug, appId: id.nullable() });

export const FORMS = { show: owner, rotate: owner.extend({ graceHours }) } as const;

/** Shows the credential in force again: it is kept encrypted for that. */
export async function showCredential(
  parts: CredentialParts,
  input: z.infer<typeof owner>,
): Promise<Answer> {
  const found = await findOwner(parts, input);
  if ('fault' in found) return found;
  const result = await revealCredential(parts.sql, parts.secrets, found);
  switch (result.kind) {
    case 'revealed':
      return { value: { credential: result.credential } };
    case 'none':
      return { fault: 'There is no credential in force: credential rotate creates one.' };
    case 'unreadable':
      return {
        fault: `SECRET_KEY: this credential was encrypted with another key, ${result.keyId}: restore that key, or create a new credential with credential rotate.`,
      };
  }
}

/** Makes a new credential; the previous one works for the grace period. */
export async function renewCredential(
  parts: CredentialParts,
  input: z.infer<typeof FORMS.rotate>,
): Promise<Answer> {
  const found = await findOwner(parts, input);
  if ('fault' in found) return found;
  const { sql, secrets } = parts;
  const { clientId, appId } = found;
  const { graceHours: hours } = input;
  const credential = await transact(sql, async (tx) => {
    const fresh = await rotateCredential(tx, secrets, found, hours);
    const role = appId === null ? { role: 'super-user' } : { role: 'api-user', appId };
    const detail = { ...role, graceHours: hours };
    const change = { action: 'credential.rotate', id: null, name: fresh.username, detail } as const;
    await recordChange(tx, operatorOrigin(clientId), change);
    return fresh;
  });
  return { value: { credential } };
}

async function findOwner(
  { sql }: CredentialParts,
  { client: clientSlug, appId }: z.infer<typeof owner>,
): Promise<CredentialOwner | { readonly fault: string }> {
  const client = await findClient(sql, clientSlug);
  if (client === null) return { fault: `There is no client ${clientSlug}.` };
  if (appId !== null && (await findAppClient(sql, appId))?.clientId !== client.id) {
    return { fault: `Client ${clientSlug} has no app ${appId}.` };
  }
  return { clientId: client.id, clientSlug, appId };
}
