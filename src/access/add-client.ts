/** Makes a client with its super user, as its operator does. */

import type { RequestSource } from '../audit/operator-origin.ts';
import { operatorOrigin } from '../audit/operator-origin.ts';
import { recordChange } from '../audit/record-change.ts';
import { insertClient } from '../clients/insert-client.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { ShownCredential } from './credentials.ts';
import { createCredential, secretKeyFault } from './credentials.ts';
import type { Secrets } from './secrets.ts';

type AddedClient =
  | { readonly kind: 'added'; readonly credential: ShownCredential }
  | { readonly kind: 'exists' }
  /** Engines could not read the credential. */
  | { readonly kind: 'other-key'; readonly fault: string };

export const addClient = (
  sql: SqlPool,
  secrets: Secrets,
  { slug, name }: { readonly slug: string; readonly name: string },
  request: RequestSource,
): Promise<AddedClient> =>
  transact(sql, async (tx) => {
    const fault = await secretKeyFault(tx, secrets);
    if (fault !== null) return { kind: 'other-key', fault };
    const clientId = await insertClient(tx, { slug, name });
    if (clientId === null) return { kind: 'exists' };
    const owner = { clientId, clientSlug: slug, appId: null };
    const credential = await createCredential(tx, secrets, owner);
    const change = { action: 'client.create', id: clientId, name } as const;
    await recordChange(tx, operatorOrigin(clientId, request), change);
    return { kind: 'added', credential };
  });
