/** The operator's actions on clients; a refusal is a sentence. */

import { z } from 'zod';
import type { ShownCredential } from '../access/credentials.ts';
import { createCredential, secretKeyFault } from '../access/credentials.ts';
import { recordChange } from '../audit/record-change.ts';
import { deleteClient } from '../catalogue/sql/delete-client.ts';
import { disableClient, enableClient } from '../clients/disable-client.ts';
import { findClient } from '../clients/find-client.ts';
import { insertClient } from '../clients/insert-client.ts';
import { transact } from '../database/transact.ts';
import { isNameText, NAME_FAULT } from '../std/name-text.ts';
import { operatorOrigin } from './audit-origin.ts';
import type { CredentialParts } from './credential-actions.ts';
import { slug } from './credential-actions.ts';

/** The name of a client or an app. */
export const name = z
  .string()
  .min(1, 'must not be empty')
  .max(255, 'must have 255 characters at most')
  .refine(isNameText, NAME_FAULT);

const one = z.object({ client: slug });

export const FORMS = { add: z.object({ client: slug, name }), one } as const;

type Answer<T> = { readonly value: T } | { readonly fault: string };
type Named = z.infer<typeof one>;

export interface AddedClient {
  readonly client: string;
  readonly credential: ShownCredential;
}

/** Makes a client with its super user. */
export const addClient = (
  { sql, secrets }: CredentialParts,
  input: z.infer<typeof FORMS.add>,
): Promise<Answer<AddedClient>> =>
  transact(sql, async (tx) => {
    const fault = await secretKeyFault(tx, secrets);
    if (fault !== null) return { fault };
    const { client: clientSlug, name } = input;
    const clientId = await insertClient(tx, { slug: clientSlug, name });
    if (clientId === null) return { fault: `Client ${clientSlug} exists already.` };
    const credential = await createCredential(tx, secrets, { clientId, clientSlug, appId: null });
    const change = { action: 'client.create', id: clientId, name } as const;
    await recordChange(tx, operatorOrigin(clientId), change);
    return { value: { client: clientSlug, credential } };
  });

/** A repetition changes nothing, and is not logged. */
export const setDisabled = (
  { sql }: CredentialParts,
  { client }: Named,
  disabled: boolean,
): Promise<Answer<Named>> =>
  transact(sql, async (tx) => {
    const found = await findClient(tx, client);
    if (found === null) return noClient(client);
    if (found.disabled === disabled) return { value: { client } };
    if (!(await (disabled ? disableClient : enableClient)(tx, client))) return noClient(client);
    const action = disabled ? 'client.disable' : 'client.enable';
    await recordChange(tx, operatorOrigin(found.id), { action, id: found.id, name: found.name });
    return { value: { client } };
  });

/** Two steps, disabled and then deleted, because the second one cannot be taken back. */
export const removeClient = ({ sql }: CredentialParts, { client }: Named): Promise<Answer<Named>> =>
  transact(sql, async (tx) => {
    const found = await findClient(tx, client);
    if (found === null) return noClient(client);
    const { id, name } = found;
    switch (await deleteClient(tx, client)) {
      case 'deleted':
        await recordChange(tx, operatorOrigin(id), { action: 'client.delete', id, name });
        return { value: { client } };
      case 'enabled':
        return {
          fault: `Client ${client} is enabled. Disable it first: client disable ${client}.`,
        };
      case 'unknown':
        return noClient(client);
    }
  });

export const noClient = (client: string): { readonly fault: string } => ({
  fault: `There is no client ${client}.`,
});
