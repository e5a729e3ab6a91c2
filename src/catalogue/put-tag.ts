/** Makes or changes one tag, within the limits of its client and of the caller's key. */

import { isDeepStrictEqual } from 'node:util';
import { findOwnApps } from '../clients/find-app.ts';
import { raiseCatalogueVersion } from '../clients/lock-client.ts';
import { nextObjectIds, OBJECT_IDS_USED_UP } from '../database/object-ids.ts';
import type { Sql } from '../database/sql.ts';
import { changedFields } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import { overLimit } from '../domain/client-limits.ts';
import type { Tag } from '../domain/tag.ts';
import type { FormFault } from '../std/strict-form.ts';
import { countTags } from './count-tags.ts';
import type { ChangedClient, Outcome, Recorder } from './outcome.ts';
import { done, refused } from './outcome.ts';
import { parameterFaults } from './parameter-budget.ts';
import { fieldPath } from './place.ts';
import type { TagFields } from './plan-tags.ts';
import { changeTag, newTag } from './plan-tags.ts';
import { readTagGroups } from './read-groups.ts';
import { readTagById, readTagBySourceId } from './read-tags.ts';
import { checkReconnection } from './reconnect.ts';
import { deleteTag } from './sql/delete-tag.ts';
import type { ListedTag } from './sql/list-tags.ts';
import { findOpenOnMembers } from './sql/open-on-members.ts';
import { TagGroupTree } from './tag-group-tree.ts';
import { Territory } from './territory.ts';
import { insertTags, updateTags } from './write-tags.ts';

const NO_ID = 0;

interface TagToPut extends ChangedClient {
  /** Null: it is to be made. */
  readonly before: Tag | null;
  readonly fields: TagFields;
  readonly path: string;
}

/** The caller of it holds the client's lock, and has read its groups. */
export async function putTag(
  tx: Sql,
  caller: Caller,
  tree: TagGroupTree,
  { before, fields, path, record, limits }: TagToPut,
): Promise<Outcome<Tag>> {
  const territory = new Territory(caller, tree);
  const outside = refused({ kind: 'outside', path });
  if (before !== null && !territory.holdsTag(before)) return outside;
  const changed = changeTag(before ?? newTag(NO_ID, caller), fields, tree, path);
  if (!changed.ok) return refused({ kind: 'invalid', faults: [changed.fault] });
  const after = changed.tag;
  const faults = [
    ...(await appFaults(tx, caller.clientId, fields, path)),
    ...(await parameterFaultsOf(tx, after, fields, path)),
  ];
  if (faults.length > 0) return refused({ kind: 'invalid', faults });
  if (!territory.takesTag(after, before)) return outside;
  if (await isTaken(tx, after)) return refused({ kind: 'taken' });
  if (before === null) return await insert(tx, after, { before, fields, path, record, limits });
  // A put without a change must not empty the caches.
  if (isDeepStrictEqual(after, before)) return done(after);
  const reconnection = await checkConnections(tx, before, after);
  if (!reconnection.ok) return reconnection;
  await updateTags(tx, after.clientId, [after]);
  await raiseCatalogueVersion(tx, after.clientId);
  const detail = { fields: changedFields(before, after).map((field) => FIELDS[field]) };
  await record({ action: 'tag.change', id: after.id, name: after.name, detail });
  return done(after);
}

/** The fields of a tag, as callers name them. */
const FIELDS: Readonly<Record<keyof Tag, string>> = {
  id: 'id',
  clientId: 'clientId',
  name: 'name',
  sourceId: 'sourceId',
  groupId: 'groupId',
  expiresAtMs: 'expiration',
  optionalParameters: 'tagOptionalParameters',
  appIds: 'appIds',
};

/**
 * Deletes a tag. Null: there is none. The caller of it holds the client's lock, as does who accepts
 * an operation. A deleted tag is taken off devices by whatever writes them next, so it waits for
 * the operations on its members.
 */
export async function dropTag(
  tx: Sql,
  record: Recorder,
  territory: Territory,
  tag: Tag | null,
  path: string,
): Promise<Outcome<Tag>> {
  if (tag === null) return refused({ kind: 'unknown' });
  if (!territory.holdsTag(tag)) return refused({ kind: 'outside', path });
  const operationId = await findOpenOnMembers(tx, tag.clientId, tag.id);
  if (operationId !== null) return refused({ kind: 'in-use', operationId });
  await deleteTag(tx, tag.clientId, tag.id);
  await raiseCatalogueVersion(tx, tag.clientId);
  await record({ action: 'tag.delete', id: tag.id, name: tag.name });
  return done(tag);
}

interface PutTag {
  readonly tag: ListedTag;
  readonly isDisconnected: boolean;
}

/** Puts a tag and returns it as lists do. `id` null: makes one. Under the client's lock. */
export async function putListedTag(
  tx: Sql,
  caller: Caller,
  client: ChangedClient,
  id: number | null,
  fields: TagFields,
): Promise<Outcome<PutTag>> {
  const before = id === null ? null : await readTagById(tx, caller.clientId, id);
  if (before === null && id !== null) return refused({ kind: 'unknown' });
  const tree = new TagGroupTree(await readTagGroups(tx, caller.clientId));
  const put = await putTag(tx, caller, tree, { ...client, before, fields, path: '' });
  if (!put.ok) return put;
  const { groupId } = put.value;
  const group = groupId === null ? undefined : tree.byId(groupId);
  const tag = { ...put.value, groupSourceId: group?.sourceId ?? null };
  return done({ tag, isDisconnected: before !== null && losesApp(before, tag) });
}

/** Whether some app had the tag and has it no more. */
const losesApp = (before: Tag, { appIds }: Tag): boolean =>
  appIds !== null && (before.appIds === null || before.appIds.some((id) => !appIds.includes(id)));

async function insert(
  tx: Sql,
  tag: Tag,
  { path, record, limits }: TagToPut,
): Promise<Outcome<Tag>> {
  const over = overLimit(limits, 'tags', await countTags(tx, tag.clientId));
  if (over !== null) return refused({ kind: 'over-limit', over });
  const ids = await nextObjectIds(tx, tag.clientId, 1);
  const id = ids?.[0];
  if (id === undefined) {
    return refused({ kind: 'invalid', faults: [{ path, message: OBJECT_IDS_USED_UP }] });
  }
  const made = { ...tag, id };
  await insertTags(tx, tag.clientId, [made]);
  await raiseCatalogueVersion(tx, tag.clientId);
  await record({ action: 'tag.create', id, name: made.name });
  return done(made);
}

/** Apps that a tag gains may have subscriptions to it from before. */
async function checkConnections(tx: Sql, before: Tag, after: Tag): Promise<Outcome<null>> {
  const { id, clientId, appIds } = after;
  const connected = before.appIds;
  if (connected === null) return done(null);
  const gained = appIds?.filter((appId) => !connected.includes(appId)) ?? null;
  if (gained?.length === 0) return done(null);
  return await checkReconnection(tx, clientId, [id], gained, connected);
}

/** The apps that a tag is to be connected to are its client's. */
async function appFaults(
  tx: Sql,
  clientId: number,
  { appIds }: TagFields,
  path: string,
): Promise<readonly FormFault[]> {
  if (!appIds) return [];
  const own = new Set(await findOwnApps(tx, clientId, appIds));
  return appIds.flatMap((id) =>
    own.has(id)
      ? []
      : [
          {
            path: fieldPath(path, 'appIds'),
            message: `names ${id}, which is no app of this client`,
          },
        ],
  );
}

const parameterFaultsOf = async (
  tx: Sql,
  tag: Tag,
  { tagOptionalParameters }: TagFields,
  path: string,
): Promise<readonly FormFault[]> =>
  tagOptionalParameters
    ? await parameterFaults(tx, tag.clientId, [tag], fieldPath(path, 'tagOptionalParameters'))
    : [];

async function isTaken(tx: Sql, tag: Tag): Promise<boolean> {
  if (tag.sourceId === null) return false;
  const holder = await readTagBySourceId(tx, tag.clientId, tag.sourceId);
  return holder !== null && holder.id !== tag.id;
}
