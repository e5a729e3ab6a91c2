/**
 * What a key that is limited to tags, groups, apps or a number of devices may do with a route that
 * its scopes open.
 */

import type { Caller, KeyRights } from '../access/caller.ts';
import { ID_MAX } from '../domain/tag.ts';
import type { Push, TagReferences } from '../push/accept/push.ts';
import { findCoveredTags } from '../store/client-keys/covered-tags.ts';
import type { Sql } from '../store/sql.ts';
import type { HttpRequest, HttpResponse } from './handler.ts';
import { problem } from './problem.ts';

/**
 * Whether only some of the client's audience is a caller's business: who then sees no jobs but his
 * own.
 */
export const isLimited = ({ key }: Caller): boolean =>
  key !== undefined && (limitsTags(key) || key.appIds !== null);

const limitsTags = (key: KeyRights): boolean => key.tagIds !== null || key.groupIds !== null;

/** A push within the limits of its caller, or a sentence that says why not. */
export type LimitedPush =
  | { readonly ok: true; readonly push: Push }
  | { readonly ok: false; readonly why: string };

/** Without `appIds` a push is for every app, of those that its key may address. */
export async function limitPush(sql: Sql, caller: Caller, push: Push): Promise<LimitedPush> {
  const { key } = caller;
  if (key === undefined) return { ok: true, push };
  if (limitsTags(key) && !(await coversAudience(sql, caller.clientId, key, push))) {
    return {
      ok: false,
      why: 'This key is for some tags only: every target tag, or one of the filter tags, must be one of them.',
    };
  }
  const { appIds } = key;
  if (appIds === null) return { ok: true, push };
  if (push.appIds?.some((appId) => !appIds.includes(appId))) {
    return { ok: false, why: `This key is for the apps ${appIds.join(', ')} only.` };
  }
  return { ok: true, push: { ...push, appIds: push.appIds ?? appIds } };
}

/** Whether a tag is within the limits of its caller. */
export async function coversTag(sql: Sql, caller: Caller, tagId: number): Promise<boolean> {
  const { key } = caller;
  if (key === undefined || !limitsTags(key)) return true;
  const named = { ids: [tagId], sourceIds: [] };
  return (await findCoveredTags(sql, caller.clientId, key, named)).length > 0;
}

/** 403: a tag, or counts, that a limited key has nothing to do with. */
export const outside = (request: HttpRequest): HttpResponse =>
  problem(request.requestId, 403, 'This is outside of what this key is for.');

/**
 * Whoever gets the push has one of the key's tags: as each of the targets is one, or as one of the
 * filters is. A name that nobody knows is none of them: it may become another's before the push is
 * due.
 */
async function coversAudience(
  sql: Sql,
  clientId: number,
  key: KeyRights,
  { target, filter }: Push,
): Promise<boolean> {
  const covered = await findCoveredTags(sql, clientId, key, {
    // Beyond the range of ids there is no tag, and no integer of the database either.
    ids: [...target.ids, ...filter.ids].filter((id) => id > 0 && id <= ID_MAX),
    sourceIds: [...target.sourceIds, ...filter.sourceIds],
  });
  const names = new Set(covered.flatMap(({ id, sourceId }) => [id, sourceId]));
  const namesOf = ({ ids, sourceIds }: TagReferences) => [...ids, ...sourceIds];
  return (
    namesOf(target).every((name) => names.has(name)) ||
    namesOf(filter).some((name) => names.has(name))
  );
}
