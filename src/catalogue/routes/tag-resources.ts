/** Tags as resources: `…/tags` and `…/tags/<id>`. `appIds`: for some of the client's apps only. */

import { z } from 'zod';
import { inClient } from '../../access/routes/in-client.ts';
import { findOwnApps } from '../../clients/find-app.ts';
import type { PatientReads } from '../../database/patient-reads.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { Caller } from '../../domain/caller.ts';
import { TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';
import { created, listed, noContent, shown } from '../../http/answers.ts';
import { form } from '../../http/form-body.ts';
import type { Route } from '../../http/handler.ts';
import { id as idForm } from '../../http/id-form.ts';
import { rowsOf } from '../../http/list-answer.ts';
import { count, id, orAbsent } from '../../http/openapi/parts.ts';
import type { QueryParameter } from '../../http/parameters.ts';
import { cursorFrom, flag, idOf, idsOf, LIMIT, pathId, text } from '../../http/parameters.ts';
import { done, refuse } from '../../http/result.ts';
import type { Asked } from '../../http/route.ts';
import { routesAt } from '../../http/route.ts';
import { measured, strictForm } from '../../std/strict-form.ts';
import { coversTag } from '../key-limits.ts';
import { dropTag, putListedTag } from '../put-tag.ts';
import { readTagById } from '../read-tags.ts';
import type { TakeOff } from '../reconnect.ts';
import { connectAfterLeaving } from '../reconnect.ts';
import type { ListedTag } from '../sql/list-tags.ts';
import { listTags, readListedTag } from '../sql/list-tags.ts';
import { readTerritory } from '../territory.ts';
import { patientRows } from './patient-rows.ts';
import { NO_TAG, resultOf } from './refusal.ts';
import { anyId, name, OTHER_ID, tagFields } from './tag-forms.ts';
import { tagProperties } from './tag-schemas.ts';

export interface TagResourceParts {
  readonly sql: SqlPool;
  readonly patientReads: PatientReads;
  /** A tag was disconnected from an app: its devices there are to lose it. */
  readonly onDisconnected: (tagId: number) => void;
  readonly takeOff: TakeOff;
}

/** An empty list is refused: its author did not mean to take the tag from every device. */
const appIds = measured(
  TAGS_PER_REQUEST_MAX,
  z
    .array(idForm, 'must be an array of ids')
    .min(1, 'names no app; null connects the tag to every app')
    .max(TAGS_PER_REQUEST_MAX),
).transform((ids) => [...new Set(ids)].sort((one, other) => one - other));
const fields = {
  ...tagFields,
  groupId: idForm
    .nullish()
    .meta({ description: 'With `groupSourceId`: both have to name the same.' }),
  appIds: appIds.nullish().meta({ description: 'The apps that it is for. Null: every app.' }),
};
export const newTagForm = strictForm({ id: anyId, name, ...fields });
export const tagPatchForm = strictForm({
  id: idForm.optional(),
  name: name.optional(),
  ...fields,
});

const tag = z
  .object({
    ...tagProperties,
    groupId: orAbsent(id),
    devices: count.optional().meta({
      description: 'Devices with it in the apps that the caller may see; only with `withDevices`.',
    }),
    appIds: orAbsent(
      z.array(id).meta({ description: 'The apps it is connected to; absent: every app.' }),
    ),
  })
  .meta({ id: 'Tag', description: 'What a tag does not have is left out.' });
const TAG = { id: 2, name: 'Breaking news', sourceId: 'breaking-news' };

const TAGS = '/push-admin-api/v3/:client/tags';
const reads = routesAt(TAGS, { api: 'admin', needs: 'read' });
const changes = routesAt(TAGS, { api: 'admin', needs: 'admin' });
const path = { id: pathId('tag', TAG.id, NO_TAG) };

export const tagResourceRoutes = (parts: TagResourceParts): readonly Route[] =>
  [listRoute, createRoute, getRoute, changeRoute, deleteRoute].map((make) => make(parts));

const inGroup: QueryParameter<number | null> = {
  description: 'In this group; 0: in none.',
  schema: count,
  example: 0,
  read: (reader, name) => reader.number(name, 0),
};

/** @limit ids that a list of tags is asked for → `400` */
const ASKED_IDS_MAX = 100;
/**
 * Counting reads a row for each day on which devices came or went, of each tag.
 * @limit rows of a page of tags `withDevices` → `400`
 */
const COUNTED_TAGS_MAX = 100;

const listRoute = ({ sql, patientReads }: TagResourceParts) =>
  reads.get(
    'listTags',
    {
      summary: 'List tags, by id',
      query: {
        limit: LIMIT,
        cursor: cursorFrom([0]),
        q: text('With this text in the name or sourceId.', 'news'),
        groupId: inGroup,
        withGroupsBelow: flag('With `true`: those in groups below `groupId`, too.', 'false'),
        sourceId: text('With this sourceId.', 'breaking-news'),
        appId: idOf('Connected to this app.', 1),
        ids: idsOf(`These, ${ASKED_IDS_MAX} at most.`, '2,7', ASKED_IDS_MAX),
        withDevices: flag(
          `With \`true\`: each with how many devices have it; \`limit\` is ${COUNTED_TAGS_MAX} at most.`,
          'true',
        ),
      },
      answer: listed('The tags.', tag, [TAG]),
    },
    async ({ caller: { clientId, key: limits }, query }) => {
      const { q, appId, limit, withDevices } = query;
      if (withDevices && (limit === null || limit > COUNTED_TAGS_MAX)) {
        const message = `must be ${COUNTED_TAGS_MAX} at most with withDevices`;
        return refuse.invalid([{ path: 'limit', message }]);
      }
      if (appId !== null && (await findOwnApps(sql, clientId, [appId])).length === 0) {
        return refuse.invalid([{ path: 'appId', message: 'names no app of this client' }]);
      }
      const filter = { ...query, text: q };
      // A text is looked for in all of them, and all of them may be asked for.
      return patientRows(patientReads, clientId, (patient) =>
        rowsOf(query, {
          async read([afterId = 0], limit) {
            const asked = { clientId, filter, limits, afterId, limit, withDevices };
            return (await listTags(patient, asked)).map(asListed);
          },
          keyOf: ({ id }) => [id],
        }),
      );
    },
  );

const createRoute = ({ sql }: TagResourceParts) =>
  changes.post(
    'createTag',
    {
      summary: 'Make a tag',
      description:
        'An answer may be sent back: `id` is not looked at. `409`: another tag has the sourceId.',
      body: form(newTagForm, { name: 'Tennis', sourceId: 'all-tennis' }),
      problems: [409],
      answer: created('Made.', tag, { id: 8, name: 'Tennis', sourceId: 'all-tennis' }),
    },
    inClient(sql, async (tx, client, { caller, body }) => {
      const put = resultOf(await putListedTag(tx, caller, client, null, body));
      return put.ok ? done(asListed(put.value.tag)) : put;
    }),
  );

const getRoute = ({ sql }: TagResourceParts) =>
  reads.get(
    'getTag',
    { at: ':id', summary: 'One tag', path, answer: shown('The tag.', tag, TAG) },
    async ({ caller, path: { id } }) => {
      const found = await readListedTag(sql, caller.clientId, id);
      if (found === null) return NO_TAG;
      return (await coversTag(sql, caller, found)) ? done(asListed(found)) : refuse.outside();
    },
  );

type Patch = Asked<Caller, { readonly id: number }, unknown, z.infer<typeof tagPatchForm>>;

const changeRoute = ({ sql, onDisconnected, takeOff }: TagResourceParts) => {
  const change = connectAfterLeaving(
    takeOff,
    inClient(sql, (tx, client, { caller, path: { id }, body }: Patch) =>
      putListedTag(tx, caller, client, id, body),
    ),
  );
  return changes.patch(
    'changeTag',
    {
      at: ':id',
      summary: 'Change or move a tag',
      description: `An absent field keeps its value, null clears it. \`409\`: another tag has the sourceId.

\`appIds\` that name an app no more disconnect the tag from it. From the next request on nobody can subscribe to it there or see it there, and pushes that are accepted from then on are not for that app. Its devices there lose it in the background. \
Connected again, it has none of its subscriptions from before, however soon that is: what devices still have of it is taken off them first. Where that is more than 20,000 devices, or an operation still needs its members, it is \`409\` with \`Retry-After\`, here and in \`app/update\`, until \`listRemovals\` no longer lists it.`,
      path,
      body: form(tagPatchForm, { name: 'News' }),
      problems: [409],
      answer: shown('Changed.', tag, { ...TAG, name: 'News' }),
    },
    async (asked) => {
      const { id } = asked.path;
      if ((asked.body.id ?? id) !== id) return refuse.invalid([OTHER_ID]);
      const put = resultOf(await change(asked));
      if (!put.ok) return put;
      if (put.value.isDisconnected) onDisconnected(id);
      return done(asListed(put.value.tag));
    },
  );
};

const deleteRoute = ({ sql }: TagResourceParts) =>
  changes.delete(
    'deleteTag',
    {
      at: ':id',
      summary: 'Delete a tag',
      description:
        'Devices lose it in the background: `listRemovals` shows how far that is. `409`: an operation on its members has not ended.',
      path,
      problems: [409],
      answer: noContent('Deleted.'),
    },
    inClient(sql, async (tx, { clientId, record }, { caller, path: { id } }) => {
      const tag = await readTagById(tx, clientId, id);
      const dropped = await dropTag(tx, record, await readTerritory(tx, caller), tag, '');
      return dropped.ok ? done(null) : resultOf(dropped);
    }),
  );

/** In the words of the interface. */
const asListed = ({ expiresAtMs, optionalParameters, ...tag }: ListedTag) => ({
  ...tag,
  expiration: expiresAtMs,
  tagOptionalParameters: optionalParameters,
});
