/**
 * Applies the limits of a key to tags, tag groups, apps or a number of devices, on routes that its
 * scopes open.
 */

import type { Sql } from '../database/sql.ts';
import { operandsOf, requires } from '../domain/audience-expression.ts';
import type { Caller, KeyRights } from '../domain/caller.ts';
import type { Tag } from '../domain/tag.ts';
import { isId } from '../domain/tag.ts';
import type { HttpRequest, HttpResponse } from '../http/handler.ts';
import { problem } from '../http/problem.ts';
import type { Push, TagReferences } from '../push/accept/push.ts';
import { findCoveredTags } from './sql/covered-tags.ts';

/**
 * Whether a caller may address only a part of the client's audience. It then sees only its own
 * jobs.
 */
export const isLimited = ({ key }: Caller): boolean =>
  key !== undefined && (limitsTags(key) || key.appIds !== null);

/** Whether its audience must have some of its tags. */
export const limitsTags = (key: KeyRights): boolean => key.tagIds !== null || key.groupIds !== null;

/** Whether an app is one that its caller's key is for. */
export const coversApp = ({ key }: Caller, appId: number): boolean =>
  key?.appIds?.includes(appId) ?? true;

/** A push within the limits of its caller, or a sentence that says why not. */
export type LimitedPush =
  | { readonly ok: true; readonly push: Push }
  | { readonly ok: false; readonly why: string };

/**
 * A push without `appIds` is for every app that its key may address. What a limit names and is gone
 * covers nothing.
 */
export async function limitPush(sql: Sql, caller: Caller, push: Push): Promise<LimitedPush> {
  const { key } = caller;
  if (key === undefined) return { ok: true, push };
  if (limitsTags(key) && !(await coversAudience(sql, caller.clientId, key, push))) {
    return {
      ok: false,
      why: 'This key is for some tags only: every target tag, or one of the filter tags, must be one of them; of an expression, each alternative must require one of them.',
    };
  }
  const { appIds } = key;
  if (appIds === null) return { ok: true, push };
  if (appIds.length === 0) return { ok: false, why: 'The apps that this key is for are gone.' };
  if (push.appIds?.some((appId) => !appIds.includes(appId))) {
    return { ok: false, why: `This key is for the apps ${appIds.join(', ')} only.` };
  }
  return { ok: true, push: { ...push, appLimit: appIds } };
}

/** Whether its caller may read a tag: it is for an app of his, and one of his tags. */
export const coversTag = async (
  sql: Sql,
  caller: Caller,
  tag: Pick<Tag, 'id' | 'appIds'>,
): Promise<boolean> => (await coveredTags(sql, caller, [tag])).length > 0;

/** Those of the tags that their caller may read. */
export async function coveredTags<T extends Pick<Tag, 'id' | 'appIds'>>(
  sql: Sql,
  { clientId, key }: Caller,
  tags: readonly T[],
): Promise<readonly T[]> {
  if (key === undefined) return tags;
  const ofApps = tags.filter(
    ({ appIds }) => key.appIds?.some((appId) => appIds?.includes(appId) ?? true) ?? true,
  );
  if (!limitsTags(key) || ofApps.length === 0) return ofApps;
  const named = { ids: ofApps.map(({ id }) => id), sourceIds: [] };
  const covered = await findCoveredTags(sql, clientId, key, named);
  const ids = new Set(covered.map(({ id }) => id));
  return ofApps.filter(({ id }) => ids.has(id));
}

/** 403: what a limited key has nothing to do with; `path`: the entry of the request that is. */
export const outside = (request: HttpRequest, path = ''): HttpResponse =>
  problem(
    request.requestId,
    403,
    `${path === '' ? 'This' : path} is outside of what this key is for.`,
  );

/**
 * Whether every device that gets the push has one of the key's tags: each target tag is one of
 * them, or one of the filter tags is; of an expression, each alternative requires one. An unknown
 * name is none of them: another tag may get it before the push is due.
 */
async function coversAudience(
  sql: Sql,
  clientId: number,
  key: KeyRights,
  { target, filter, expression }: Push,
): Promise<boolean> {
  const namesOf = ({ ids, sourceIds }: TagReferences) => [...ids, ...sourceIds];
  const named =
    expression === undefined
      ? [...namesOf(target), ...namesOf(filter)]
      : operandsOf(expression.root).map(({ reference }) => reference);
  const covered = await findCoveredTags(sql, clientId, key, {
    ids: named.filter(isId),
    sourceIds: named.filter((name) => typeof name === 'string'),
  });
  const names = new Set<number | string | null>(
    covered.flatMap(({ id, sourceId }) => [id, sourceId]),
  );
  if (expression !== undefined) {
    return requires(expression.root, ({ reference }) => names.has(reference));
  }
  return (
    namesOf(target).every((name) => names.has(name)) ||
    namesOf(filter).some((name) => names.has(name))
  );
}
