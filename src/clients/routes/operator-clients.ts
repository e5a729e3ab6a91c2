/** The operator's routes of clients: who there is, what each may have, and whether it may call. */

import { z } from 'zod';
import { addClient } from '../../access/add-client.ts';
import { asMade, MADE_CREDENTIAL, madeCredential } from '../../access/routes/made-credential.ts';
import { noClient } from '../../access/routes/named-client.ts';
import type { Secrets } from '../../access/secrets.ts';
import { removeClient } from '../../catalogue/remove-client.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { ClientLimitName } from '../../domain/client-limits.ts';
import {
  CLIENT_LIMIT_MEANINGS,
  CLIENT_LIMIT_NAMES,
  clientLimitMax,
  clientLimitMin,
} from '../../domain/client-limits.ts';
import { created, noContent, secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { count, orAbsent } from '../../http/openapi/parts.ts';
import { clientId } from '../../http/parameters.ts';
import { done, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { isNameText, NAME_FAULT } from '../../std/name-text.ts';
import { strictForm } from '../../std/strict-form.ts';
import { readClientLimits } from '../client-limits.ts';
import { listClients } from '../find-client.ts';
import { setDisabled } from '../set-disabled.ts';
import { setLimits } from '../set-limits.ts';

interface Parts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

/** @limit characters of a client id (slug): 63 of `a-z 0-9 -` → `400`; the command refuses */
const slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    'must be 1–63 lowercase letters, digits and hyphens, and not begin with a hyphen',
  );

const name = z
  .string()
  .min(1, 'must not be empty')
  .max(255, 'must have 255 characters at most')
  .refine(isNameText, NAME_FAULT);

export const newClientForm = strictForm({ clientId: slug, name });

const client = z.object({
  clientId: z.string(),
  name: z.string(),
  isDisabled: z.boolean(),
  deleted: orAbsent(
    z
      .object({ apps: count, devices: count, jobs: count })
      .meta({ description: 'It was deleted: what is left of it.' }),
  ),
});
const madeClient = z.object({ clientId: z.string(), credential: madeCredential });

const eachLimit = <Schema>(make: (limit: ClientLimitName) => Schema) =>
  Object.fromEntries(CLIENT_LIMIT_NAMES.map((limit) => [limit, make(limit)])) as Record<
    ClientLimitName,
    Schema
  >;

const limits = z
  .object(
    eachLimit((limit) => count.optional().meta({ description: CLIENT_LIMIT_MEANINGS[limit] })),
  )
  .meta({ id: 'ClientLimits', description: 'Those that are set; the others have their default.' });

const limitsForm = strictForm(
  eachLimit((limit) => {
    const [min, max] = [clientLimitMin(limit), clientLimitMax(limit)];
    const why = `must be ${min}–${max}, or default`;
    return z
      .int(why)
      .min(min, why)
      .max(max, why)
      .nullable()
      .optional()
      .meta({ description: `${CLIENT_LIMIT_MEANINGS[limit]}; null: the default` });
  }),
);

const route = routesAt('/operator/v1/clients', { api: 'operator' });
const path = { clientId };

/** In an order in which a client that was made is deleted at last. */
export const clientRoutes = (parts: Parts): readonly Route[] =>
  [
    ...[createRoute, listRoute, getLimitsRoute, changeLimitsRoute],
    ...[enableRoute, disableRoute, deleteRoute],
  ].map((make) => make(parts));

const listRoute = ({ sql }: Parts) =>
  route.get(
    'listClients',
    {
      summary: 'List the clients',
      answer: shown('The clients, by slug.', z.array(client), [
        { clientId: 'demo', name: 'Demo', isDisabled: false },
      ]),
    },
    async () => {
      const clients = await listClients(sql);
      return done(
        clients.map(({ slug, name, disabled, left }) => ({
          clientId: slug,
          name,
          isDisabled: disabled,
          deleted: left,
        })),
      );
    },
  );

const createRoute = ({ sql, secrets }: Parts) =>
  route.post(
    'addClient',
    {
      summary: 'Make a client, with its super user',
      body: form(newClientForm, { clientId: 'acme', name: 'Acme' }),
      answer: secret(
        created('Made. No cache may store its credential.', madeClient, {
          clientId: 'acme',
          credential: MADE_CREDENTIAL,
        }),
      ),
      problems: [409],
    },
    async ({ body: { clientId, name }, request }) => {
      const made = await addClient(sql, secrets, { slug: clientId, name }, request);
      switch (made.kind) {
        case 'added':
          return done({ clientId, credential: asMade(made.credential) });
        case 'exists':
          return refused(409, `Client ${clientId} exists already.`);
        case 'other-key':
          return refused(409, made.fault);
      }
    },
  );

const getLimitsRoute = ({ sql }: Parts) =>
  route.get(
    'getClientLimits',
    {
      at: ':clientId/limits',
      summary: 'The limits that are set for a client',
      path,
      answer: shown('The limits.', limits, { tags: 50_000 }),
    },
    async ({ path: { clientId } }) => {
      const found = await readClientLimits(sql, clientId);
      return found === null ? noClient(clientId) : done(found);
    },
  );

const changeLimitsRoute = ({ sql }: Parts) =>
  route.patch(
    'changeClientLimits',
    {
      at: ':clientId/limits',
      summary: 'Set limits of a client',
      description: 'What is absent stays. Every node follows within a second.',
      path,
      body: form(limitsForm, { tags: 50_000 }),
      answer: shown('All that are set now.', limits, { tags: 50_000 }),
    },
    async ({ path: { clientId }, body, request }) => {
      const changed = await setLimits(sql, clientId, body, request);
      return changed === null ? noClient(clientId) : done(changed);
    },
  );

const enableRoute = ({ sql }: Parts) =>
  route.post(
    'enableClient',
    {
      at: ':clientId/enable',
      summary: 'Enable a client',
      description: 'Its credentials work again within a second.',
      path,
      answer: noContent('Enabled.'),
    },
    async ({ path: { clientId }, request }) =>
      (await setDisabled(sql, clientId, false, request)) ? done(null) : noClient(clientId),
  );

const disableRoute = ({ sql }: Parts) =>
  route.post(
    'disableClient',
    {
      at: ':clientId/disable',
      summary: 'Disable a client',
      description: 'Its credentials are refused within a second.',
      path,
      answer: noContent('Disabled.'),
    },
    async ({ path: { clientId }, request }) =>
      (await setDisabled(sql, clientId, true, request)) ? done(null) : noClient(clientId),
  );

const deleteRoute = ({ sql }: Parts) =>
  route.delete(
    'deleteClient',
    {
      at: ':clientId',
      summary: 'Delete a disabled client with all its data, for good',
      description:
        'Its data is erased from now on: `listClients` shows what is left. `409`: it is enabled.',
      path,
      problems: [409],
      answer: noContent('Deleted.'),
    },
    async ({ path: { clientId }, request }) => {
      switch (await removeClient(sql, clientId, request)) {
        case 'deleted':
          return done(null);
        case 'unknown':
          return noClient(clientId);
        case 'enabled':
          return refused(
            409,
            `Client ${clientId} is enabled. Disable it first: client disable ${clientId}.`,
          );
      }
    },
  );
