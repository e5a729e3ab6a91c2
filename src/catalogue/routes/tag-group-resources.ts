/** Groups as resources, nested as their parents say: `…/groups` and `…/groups/<id>`. */

import { z } from 'zod';
import { inClient, inClientUnless } from '../../access/routes/in-client.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { SqlPool } from '../../database/sql.ts';
import { created, listed, noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { id, orAbsent } from '../../http/openapi/parts.ts';
import { cursorFrom, LIMIT, pathId } from '../../http/parameters.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { strictForm } from '../../std/strict-form.ts';
import { dropTagGroup, putListedTagGroup } from '../put-tag-group.ts';
import { readTagGroups } from '../read-groups.ts';
import { listTagGroups, readListedTagGroup } from '../sql/list-groups.ts';
import { TagGroupTree } from '../tag-group-tree.ts';
import { Territory } from '../territory.ts';
import { patientRows } from './patient-rows.ts';
import { NO_TAG, resultOf } from './refusal.ts';
import { anyId, groupFields, name, OTHER_ID } from './tag-forms.ts';

interface TagGroupResourceParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
}

const fields = { ...groupFields, parentId: idForm.nullish() };
export const newGroupForm = strictForm({ id: anyId, name, ...fields });
export const groupPatchForm = strictForm({
  id: idForm.optional(),
  name: name.optional(),
  ...fields,
});

const tagGroup = z
  .object({
    id,
    name: z.string(),
    sourceId: orAbsent(z.string()),
    parentId: orAbsent(id),
    parentGroupSourceId: orAbsent(z.string()),
  })
  .meta({ id: 'TagGroup', description: 'What a group does not have is left out.' });
const GROUP = { id: 6, name: 'Sports', sourceId: 'sports' };

const GROUPS = '/push-admin-api/v3/:client/groups';
const reads = routesAt(GROUPS, { api: 'admin', needs: 'read' });
const changes = routesAt(GROUPS, { api: 'admin', needs: 'admin' });
const path = { id: pathId('group', GROUP.id, NO_TAG) };

export const tagGroupResourceRoutes = (parts: TagGroupResourceParts): readonly Route[] =>
  [listRoute, createRoute, getRoute, changeRoute, deleteRoute].map((make) => make(parts));

const listRoute = ({ patientReads }: TagGroupResourceParts) =>
  reads.get(
    'listTagGroups',
    {
      summary: 'List groups of tags, by id',
      query: { limit: LIMIT, cursor: cursorFrom([0]) },
      answer: listed('The groups.', tagGroup, [GROUP]),
    },
    ({ caller: { clientId, key: limits }, query }) =>
      patientRows(patientReads, clientId, (sql) =>
        rowsOf(query, {
          read: ([afterId = 0], limit) => listTagGroups(sql, { clientId, limits, afterId, limit }),
          keyOf: ({ id }) => [id],
        }),
      ),
  );

const createRoute = ({ sql }: TagGroupResourceParts) =>
  changes.post(
    'createTagGroup',
    {
      summary: 'Make a group of tags',
      body: form(newGroupForm, { name: 'Winter', sourceId: 'winter', parentId: 6 }),
      problems: [409],
      answer: created('Made.', tagGroup, {
        id: 9,
        name: 'Winter',
        sourceId: 'winter',
        parentId: 6,
        parentGroupSourceId: 'sports',
      }),
    },
    inClient(sql, async (tx, client, { caller, body }) =>
      resultOf(await putListedTagGroup(tx, caller, client, null, body)),
    ),
  );

const getRoute = ({ sql }: TagGroupResourceParts) =>
  reads.get(
    'getTagGroup',
    {
      at: ':id',
      summary: 'One group of tags',
      path,
      answer: shown('The group.', tagGroup, GROUP),
    },
    async ({ caller: { clientId, key }, path: { id } }) => {
      const group = await readListedTagGroup(sql, clientId, id, key);
      if (group !== null) return done(group);
      const isThere = key !== undefined && (await readListedTagGroup(sql, clientId, id, undefined));
      return isThere ? refuse.outside() : NO_TAG;
    },
  );

const changeRoute = ({ sql }: TagGroupResourceParts) =>
  changes.patch(
    'changeTagGroup',
    {
      at: ':id',
      summary: 'Change or move a group of tags',
      description:
        'An absent field keeps its value, null clears it. To make a cycle, or groups nested deeper than 32, is `400`. Changes of the groups of a client take turns: of two moves that together would make a cycle, the later one is refused. `409`: another group has the sourceId.',
      path,
      body: form(groupPatchForm, { name: 'All sports' }),
      problems: [409],
      answer: shown('Changed.', tagGroup, { ...GROUP, name: 'All sports' }),
    },
    inClientUnless(
      sql,
      ({ path: { id }, body }) => ((body.id ?? id) === id ? null : refuse.invalid([OTHER_ID])),
      async (tx, client, { caller, path: { id }, body }) =>
        resultOf(await putListedTagGroup(tx, caller, client, id, body)),
    ),
  );

const deleteRoute = ({ sql }: TagGroupResourceParts) =>
  changes.delete(
    'deleteTagGroup',
    {
      at: ':id',
      summary: 'Delete an empty group of tags',
      description: '`409` while tags or groups are in it.',
      path,
      problems: [409],
      answer: noContent('Deleted.'),
    },
    inClient(sql, async (tx, { record }, { caller, path: { id } }) => {
      const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
      const territory = new Territory(caller, tree);
      const dropped = await dropTagGroup(tx, record, territory, tree.byId(id) ?? null, '');
      return dropped.ok ? done(null) : resultOf(dropped);
    }),
  );
