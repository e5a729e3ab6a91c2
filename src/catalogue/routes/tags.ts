/**
 * Tags on the Admin API as the public service has them (internals/existing-clients.md), and
 * `endpoints/get`, with which clients test their credential.
 */

import { z } from 'zod';
import { inClient } from '../../access/routes/in-client.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import type { Tag } from '../../domain/tag.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { shown } from '../../http/answers.ts';
import type { Route } from '../../http/handler.ts';
import { BODY_BYTES_MAX } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { epochMs, id, texts } from '../../http/openapi/parts.ts';
import type { PathParameter } from '../../http/parameters.ts';
import { pathId } from '../../http/parameters.ts';
import { done, refuse } from '../../http/result.ts';
import { routesAt } from '../../http/route.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { addTags } from '../add-tags.ts';
import { findNamedTag, findNamedTagGroup } from '../find-named.ts';
import { coversTag } from '../key-limits.ts';
import { dropTag, putTag } from '../put-tag.ts';
import { dropTagGroup, putTagGroup } from '../put-tag-group.ts';
import { readTagGroupSourceId, readTagGroups } from '../read-groups.ts';
import { readTagById, readTagBySourceId } from '../read-tags.ts';
import { TagGroupTree } from '../tag-group-tree.ts';
import { Territory } from '../territory.ts';
import { dataForm } from './data-body.ts';
import { NO_TAG, resultOf } from './refusal.ts';
import { anyId, groupFields, name, tagFields } from './tag-forms.ts';
import { tagProperties } from './tag-schemas.ts';

const atMostThousand = <T extends z.ZodType>(entry: T) =>
  measured(TAGS_PER_REQUEST_MAX, z.array(entry, 'must be an array').max(TAGS_PER_REQUEST_MAX));

/** The body of `add`: several entries. */
export const addForm = strictForm({
  groups: atMostThousand(strictForm({ id: anyId, name, ...groupFields })).optional(),
  tags: atMostThousand(strictForm({ id: anyId, name, ...tagFields })).optional(),
}).refine(({ groups, tags }) => groups !== undefined || tags !== undefined, 'needs tags or groups');

const UNNAMED = 'needs an id or a sourceId';
const isNamed = (entry: {
  readonly id?: number | undefined;
  readonly sourceId?: string | null | undefined;
}): boolean => entry.id !== undefined || typeof entry.sourceId === 'string';
const named = { id: idForm.optional(), name: name.optional() };

/** `update` and `delete`: one entry, named by its id or, without one, by its sourceId. */
export const oneForm = strictForm({
  groups: atMostThousand(strictForm({ ...named, ...groupFields }).refine(isNamed, UNNAMED)).default(
    [],
  ),
  tags: atMostThousand(strictForm({ ...named, ...tagFields }).refine(isNamed, UNNAMED)).default([]),
}).refine(
  ({ groups, tags }) => groups.length + tags.length === 1,
  'needs exactly one tag or group',
);

const entry = { id, name: z.string().optional(), sourceId: z.string().nullish() };
const entries = z
  .object({
    tags: z
      .array(
        z.object({
          ...entry,
          groupSourceId: z.string().nullish(),
          expiration: epochMs.nullish(),
          tagOptionalParameters: texts.nullish(),
        }),
      )
      .optional(),
    groups: z.array(z.object({ ...entry, parentGroupSourceId: z.string().nullish() })).optional(),
  })
  .meta({ id: 'TagEntries', description: 'The entries of the request, with their ids.' });

const publishedTag = z.object(tagProperties).meta({ id: 'PublishedTag' });
const TAG = { id: 2, name: 'Breaking news', sourceId: 'breaking-news' };

const at = <const Needs extends 'admin' | 'read'>(verb: string, needs: Needs) =>
  routesAt(`/push-admin-api/tag/${verb}/:client`, { api: 'admin', needs });

/** `tag/…`, and `endpoints/get`. Clients send a body with GET, too: it is not read. */
export const tagRoutes = (sql: SqlPool): readonly Route[] =>
  [
    addRoute(sql),
    updateRoute(sql),
    deleteRoute(sql),
    findBySourceIdRoute(sql),
    findByIdRoute(sql),
    checkRoute,
  ].map((route) => ({ ...route, bodyBytesMax: BODY_BYTES_MAX }));

const addRoute = (sql: SqlPool) =>
  at('add', 'admin').post(
    'addTags',
    {
      summary: 'Make sure that tags and groups exist',
      description:
        'All or none. An entry with a known sourceId is updated in the given fields only, any other is made: without `sourceId` by each request. Groups come first, so a tag may name a group of the same request. An unknown field is `400`, except `id`, which is ignored: so an answer may be posted back.',
      body: dataForm(addForm, {
        groups: [{ name: 'Matches', sourceId: 'matches' }],
        tags: [{ name: 'Goals', sourceId: 'goals', groupSourceId: 'matches' }],
      }),
      answer: shown('The entries with their ids.', entries, {
        tags: [{ id: 8, name: 'Goals', sourceId: 'goals' }],
      }),
    },
    inClient(sql, async (tx, client, { caller, body: { groups, tags } }) => {
      const asked = { groups: groups ?? [], tags: tags ?? [] };
      const added = resultOf(await addTags(tx, caller, client, asked));
      if (!added.ok) return added;
      return done({
        groups: groups && withIds(groups, added.value.groups),
        tags: tags && withIds(tags, added.value.tags),
      });
    }),
  );

const withIds = <Entry extends object>(entries: readonly Entry[], ids: readonly number[]) =>
  entries.map((entry, index) => ({ ...entry, id: ids[index] ?? 0 }));

const ofOne = {
  description:
    'Exactly one tag or group, named by its id or, without one, by its sourceId. An absent field keeps its value, null clears it. To move a group under itself, or too deep, is `400`. `409`: another tag or group has the sourceId.',
  problems: [404, 409],
  answer: shown('The entry with its id.', entries, { tags: [{ id: 8, sourceId: 'goals' }] }),
} as const;

const updateRoute = (sql: SqlPool) =>
  at('update', 'admin').post(
    'updateTag',
    {
      ...ofOne,
      summary: 'Change or move a tag or a group',
      body: dataForm(oneForm, { tags: [{ sourceId: 'goals', name: 'All goals' }] }),
    },
    inClient(sql, async (tx, client, { caller, body: { tags, groups } }) => {
      const tree = new TagGroupTree(await readTagGroups(tx, client.clientId));
      const [tag] = tags;
      if (tag !== undefined) {
        const before = await findNamedTag(tx, client.clientId, tag);
        if (before === null) return NO_TAG;
        const asked = { ...client, before, fields: tag, path: 'tags.0' };
        const put = resultOf(await putTag(tx, caller, tree, asked));
        return put.ok ? done({ tags: withIds(tags, [before.id]) }) : put;
      }
      const [group] = groups;
      if (group === undefined) throw new Error('the form lets exactly one entry through');
      const before = findNamedTagGroup(tree, group);
      if (before === null) return NO_TAG;
      const asked = { ...client, before, fields: group, path: 'groups.0' };
      const put = resultOf(await putTagGroup(tx, caller, tree, asked));
      return put.ok ? done({ groups: withIds(groups, [before.id]) }) : put;
    }),
  );

const deleteRoute = (sql: SqlPool) =>
  at('delete', 'admin').post(
    'removeTag',
    {
      ...ofOne,
      summary: 'Delete a tag, or an empty group',
      description:
        'Exactly one, named by its id or, without one, by its sourceId. `409`: the group is not empty, or an operation on the members of the tag has not ended. A deleted tag is gone for everybody at once; its id is never used again.',
      body: dataForm(oneForm, { tags: [{ sourceId: 'goals' }] }),
    },
    inClient(sql, async (tx, { clientId, record }, { caller, body: { tags, groups } }) => {
      const tree = new TagGroupTree(await readTagGroups(tx, clientId));
      const territory = new Territory(caller, tree);
      const [tag] = tags;
      if (tag !== undefined) {
        const found = await findNamedTag(tx, clientId, tag);
        const dropped = resultOf(await dropTag(tx, record, territory, found, 'tags.0'));
        return dropped.ok ? done({ tags: withIds(tags, [dropped.value.id]) }) : dropped;
      }
      const [group] = groups;
      if (group === undefined) throw new Error('the form lets exactly one entry through');
      const found = findNamedTagGroup(tree, group);
      const dropped = resultOf(await dropTagGroup(tx, record, territory, found, 'groups.0'));
      return dropped.ok ? done({ groups: withIds(groups, [dropped.value.id]) }) : dropped;
    }),
  );

const theTag = shown('The tag, expired or not.', publishedTag, TAG);

const findBySourceIdRoute = (sql: SqlPool) =>
  at('sourceId/:value', 'read').get(
    'findTagBySourceId',
    { summary: 'Find a tag by its sourceId', path: { value: sourceIdInPath }, answer: theTag },
    async ({ caller, path: { value } }) =>
      told(sql, caller, await readTagBySourceId(sql, caller.clientId, value)),
  );

const sourceIdInPath: PathParameter<string> = {
  description: 'The sourceId of the tag.',
  schema: z.string(),
  example: TAG.sourceId,
  // PostgreSQL's text cannot hold NUL, so no tag has such a sourceId.
  read: (text) => (text.includes('\0') ? null : text),
  unknown: NO_TAG,
};

const findByIdRoute = (sql: SqlPool) =>
  at('id/:value', 'read').get(
    'findTagById',
    {
      summary: 'Find a tag by its id',
      path: { value: pathId('tag', TAG.id, NO_TAG) },
      answer: theTag,
    },
    async ({ caller, path: { value } }) =>
      told(sql, caller, await readTagById(sql, caller.clientId, value)),
  );

/** In the form of `tag/add`. */
async function told(sql: Sql, caller: Caller, tag: Tag | null) {
  if (tag === null) return NO_TAG;
  if (!(await coversTag(sql, caller, tag))) return refuse.outside();
  const { id, name, sourceId, groupId, expiresAtMs, optionalParameters } = tag;
  const groupSourceId = groupId === null ? null : await readTagGroupSourceId(sql, groupId);
  return done({
    id,
    name,
    sourceId,
    groupSourceId,
    expiration: expiresAtMs,
    tagOptionalParameters: optionalParameters,
  });
}

const checkRoute = routesAt('/push-admin-api/endpoints/get', {
  api: 'admin',
  needs: 'any-scope',
}).get(
  'checkCredential',
  {
    summary: 'Check whether a credential works',
    answer: shown('It does.', z.object({ ok: z.literal(true) }), { ok: true }),
  },
  () => done({ ok: true as const }),
);
