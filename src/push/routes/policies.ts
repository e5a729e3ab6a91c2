/** `policies`: what pushes of a client are held to. */

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { REVOKED_WITHIN_MS } from '../../access/revision.ts';
import { inClientUnless } from '../../access/routes/in-client.ts';
import { readPolicies, writePolicies } from '../../clients/policies.ts';
import { name as CAPS } from '../../database/migrations/0056-caps.ts';
import { needMigration } from '../../database/nodes/need-migration.ts';
import type { SqlPool } from '../../database/sql.ts';
import { changedFields } from '../../domain/audit.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Category, Policies } from '../../domain/policies.ts';
import { CATEGORIES_MAX, NO_POLICIES, policiesForm } from '../../domain/policies.ts';
import { shown } from '../../http/answers.ts';
import { matchesEntityTag } from '../../http/entity-tag.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { outsideOfLimits } from '../../http/permission.ts';
import { done, refused } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { routesAt } from '../../http/route.ts';

const policies = z
  .object({
    timezone: z.string(),
    categories: z.array(
      z.object({
        name: z.string(),
        default: z.boolean().optional(),
        caps: z
          .array(
            z.object({
              max: z.int(),
              per: z.string(),
              of: z.string().optional(),
            }),
          )
          .optional(),
      }),
    ),
  })
  .meta({ id: 'Policies' });
const POLICIES = {
  timezone: 'Europe/Zurich',
  categories: [
    { name: 'news', default: true, caps: [{ max: 5, per: '24h' }] },
    { name: 'breaking' },
  ],
};
const ETAG = { ETag: 'Another one after each change.' };

const PATH = '/push-admin-api/v3/:client/policies';

export const policyRoutes = (sql: SqlPool): readonly Route[] => [getRoute(sql), putRoute(sql)];

const getRoute = (sql: SqlPool) =>
  routesAt(PATH, { api: 'admin', needs: 'read' }).get(
    'getPolicies',
    {
      summary: 'The policies of the client',
      description: 'Without any, `categories` is empty, and nobody is left out of a push.',
      answer: shown('All of them.', policies, POLICIES, ETAG),
    },
    async ({ caller: { clientId } }) => {
      const found = await readPolicies(sql, clientId);
      return done(found, { headers: { ETag: entityTagOf(found) } });
    },
  );

const OUTDATED = refused(
  412,
  'The policies have been changed since they were read. Read them again.',
);
const LATER = refused(
  503,
  'Nodes of an earlier version are at work, which would leave nobody out. Try again when they have ended.',
  { headers: { 'Retry-After': '10' } },
);

const putRoute = (sql: SqlPool) => {
  const change = inClientUnless(
    sql,
    outsideOfLimits,
    async (tx, { clientId, record }, { body, request }: AskedPolicies) => {
      const before = await readPolicies(tx, clientId);
      const ifMatch = request.header('if-match');
      if (ifMatch !== '' && !matchesEntityTag(ifMatch, entityTagOf(before))) return OUTDATED;
      const after: Policies = {
        timezone: body.timezone ?? NO_POLICIES.timezone,
        categories: body.categories,
      };
      const fields = changedFields(textsOf(before), textsOf(after));
      if (fields.length > 0) {
        if ((await needMigration(tx, CAPS)) !== null) return LATER;
        await writePolicies(tx, clientId, isNone(after) ? null : after);
        await record({ action: 'client.policies', id: clientId, name: null, detail: { fields } });
      }
      return done({ after, isFirst: isNone(before) && fields.length > 0 });
    },
  );
  return routesAt(PATH, { api: 'admin', needs: 'admin' }).put(
    'putPolicies',
    {
      summary: 'Set the policies of the client',
      description: `All of them: what is absent is taken away. A category is a kind of push, which a push names; one is the \`default\`. Its caps say how many pushes a device may get in a rolling window: a device that has had as many is left out of the next one, and counted in \`withheldCount\`. Caps are exact, over all nodes and pushes at once: a place is taken before a provider is asked, and given back where it refuses; a push whose outcome is unknown counts. Pushes that were accepted before keep the policies that they have; those of a client that had no policies count for nothing. Up to ${CATEGORIES_MAX} categories. A device that registers under a new token without \`devices/replace\` is a new one. A key with limits: \`403\`.`,
      headers: {
        'If-Match': {
          description:
            'The ETag that `getPolicies` answered: changes of others are not overwritten, but `412`.',
          schema: z.string(),
          example: '*',
        },
      },
      body: form(policiesForm, POLICIES),
      answer: shown('All of them, as they are now.', policies, POLICIES, ETAG),
      problems: [400, 412],
    },
    async (asked) => {
      const changed = await change(asked);
      if (!changed.ok) return changed;
      const { after, isFirst } = changed.value;
      // Nodes remember for so long that a client has none: from the answer on, each push is held.
      if (isFirst) await sleep(REVOKED_WITHIN_MS);
      return done(after, { headers: { ETag: entityTagOf(after) } });
    },
  );
};

type AskedPolicies = Asked<Caller, unknown, unknown, z.infer<typeof policiesForm>>;

const isNone = ({ timezone, categories }: Policies): boolean =>
  categories.length === 0 && timezone === NO_POLICIES.timezone;

const textsOf = ({ timezone, categories }: Policies) => ({
  timezone,
  categories: JSON.stringify(categories.map(canonical)),
});

const entityTagOf = ({ timezone, categories }: Policies): string =>
  `"${createHash('sha256')
    .update(JSON.stringify([timezone, categories.map(canonical)]))
    .digest('base64url')
    .slice(0, 22)}"`;

/** In one order, whatever the database makes of it. */
const canonical = ({ name, default: isDefault = false, caps = [] }: Category) => [
  name,
  isDefault,
  caps.map(({ max, per, of = 'category' }) => [max, per, of]),
];
