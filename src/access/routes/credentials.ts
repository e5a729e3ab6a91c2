/** `credentials`: a super user lists and rotates its own credential and those of its apps. */

import { z } from 'zod';
import type { SqlPool } from '../../database/sql.ts';
import { ID_MAX } from '../../domain/tag.ts';
import { listed, secret, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { epochMs, id, orAbsent } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { cursorFrom, LIMIT } from '../../http/parameters.ts';
import { done, refuse, refused } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import { GRACE_HOURS_MAX } from '../credentials.ts';
import { renewCredential } from '../renew-credential.ts';
import type { Secrets } from '../secrets.ts';
import { listCredentials } from '../sql/list-credentials.ts';
import { asSuperUser } from './in-client.ts';

export interface CredentialRouteParts {
  readonly sql: SqlPool;
  readonly secrets: Secrets;
}

const GRACE = `must be whole hours, 0–${GRACE_HOURS_MAX}`;
const APP_ID = 'must be the id of an app';
/** For how long what is replaced works on. */
export const graceHours = z.int(GRACE).min(0, GRACE).max(GRACE_HOURS_MAX, GRACE);
export const rotateForm = strictForm({
  graceHours,
  appId: z.int(APP_ID).min(1, APP_ID).max(ID_MAX, APP_ID).optional(),
});

const ROLES = ['super-user', 'api-user'] as const;
type Role = (typeof ROLES)[number];
const role: PathParameter<Role> = {
  description: 'Whose credential.',
  schema: z.enum(ROLES),
  example: 'api-user',
  read: (text) => ROLES.find((known) => known === text) ?? null,
  unknown: refused(404, `The roles are ${ROLES.join(' and ')}.`),
};

const whose = z.object({
  role: z.enum(ROLES),
  appId: orAbsent(id.meta({ description: 'Of an api-user.' })),
  userName: z.string(),
});
const credential = whose.extend({ createdAt: epochMs, expiresAt: orAbsent(epochMs) });
const withSecrets = whose.extend({ password: z.string(), token: z.string() });

const route = routesAt('/push-admin-api/v3/:client/credentials', {
  api: 'admin',
  needs: 'super-user',
});

export const credentialRoutes = (parts: CredentialRouteParts): readonly Route[] =>
  [listRoute, rotateRoute].map((make) => make(parts));

const listRoute = ({ sql }: CredentialRouteParts) =>
  route.get(
    'listCredentials',
    {
      summary: 'List the credentials of the client and its apps',
      description: 'Those that work, those in their grace with their end. Without their secrets.',
      // The super user's are before all apps'.
      query: { limit: LIMIT, cursor: cursorFrom([0, 0], '0.1') },
      answer: listed('The credentials.', credential, [
        { role: 'super-user', userName: 'demo-super', createdAt: 1_795_392_000_000 },
      ]),
    },
    ({ caller: { clientId }, query }) =>
      rowsOf(query, {
        read: async ([afterAppId = 0, afterId = 0], limit) => {
          const rows = await listCredentials(sql, clientId, { afterAppId, afterId, limit });
          return rows.map((row) => ({ ...row, role: roleOf(row.appId) }));
        },
        keyOf: ({ appId, id }) => [appId ?? 0, id],
      }),
  );

const rotateRoute = ({ sql, secrets }: CredentialRouteParts) =>
  route.post(
    'rotateCredential',
    {
      at: ':role/rotate',
      summary: 'Make a new credential in place of one',
      description:
        'The ones before it work for `graceHours` more: one of a super user reads and sends, and changes tags and devices, but makes nothing that outlives it, so one that leaked does not. To it `keys`, `credentials` and `webhooks` answer `403`, and so do apps that it would make or delete, provider credentials and templates that it would put. Without grace it is refused within a second on every node.',
      path: { role },
      body: form(rotateForm, { graceHours: 24, appId: 1 }),
      answer: secret(
        shown('The new one. No cache may store it.', withSecrets, {
          role: 'api-user',
          appId: 1,
          userName: 'demo-app-1-x9Kd',
          password: 'shown-again-by-the-console',
          token: 'tca_…',
        }),
      ),
    },
    asSuperUser(sql, async (tx, { clientId, record }, { caller: { clientSlug }, path, body }) => {
      const { graceHours, appId = null } = body;
      if (path.role !== roleOf(appId)) {
        const message = appId === null ? 'is missing' : 'belongs to an api-user only';
        return refuse.invalid([{ path: 'appId', message }]);
      }
      const owner = { clientId, clientSlug, appId };
      const made = await renewCredential(tx, secrets, owner, graceHours, record);
      if (made === null) return refuse.unknown('app');
      return done({ ...made, role: path.role, appId, userName: made.username });
    }),
  );

const roleOf = (appId: number | null): Role => (appId === null ? 'super-user' : 'api-user');
