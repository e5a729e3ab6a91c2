/** Makes a draft of a notification that was sent before. */

import { ProblemError } from '../../../packages/client/src/client.ts';
import type { Notification } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import type { DraftFields, PickedTag } from '../state/draft.svelte.ts';
import { MORE_NAMES, moreOf } from '../texts/payload-fields.ts';
import type { ChosenScopes } from './scopes.ts';

/** The fields that the page has inputs for. */
const COMPOSED: ReadonlySet<string> = new Set([
  'title',
  'message',
  'body',
  'url',
  'image',
  ...MORE_NAMES,
  'silent',
  'data',
]);

/**
 * Whether a draft can hold what was sent. It has no place for several languages, for what a template
 * is given, or for parts that only one provider takes: a draft without them would be another push.
 */
export const canBeDraft = ({ payload, givenPayload }: Notification): boolean =>
  givenPayload === undefined && Object.keys(payload).every((name) => COMPOSED.has(name));

/** For the apps and platforms of `scopes`. Tags that are gone are left out: no device has them. */
export async function draftOf(
  api: ClientApi,
  notification: Notification,
  scopes: ChosenScopes,
): Promise<Partial<DraftFields>> {
  const { audience, payload } = notification;
  const { title = '', message, body, url = '', image = '', silent, data } = payload;
  const texts = { title, message: message ?? body ?? '', url, image };
  const rest = {
    ...scopes,
    ...moreOf(payload),
    isSilent: silent ?? false,
    data: data === undefined ? '' : JSON.stringify(data, null, 2),
  };
  if (audience.expression !== undefined) {
    return { ...texts, ...rest, isExpression: true, expression: audience.expression };
  }
  const [any, all, none] = await Promise.all([
    tagsOf(api, audience.tagIds),
    tagsOf(api, audience.filterTagIds),
    tagsOf(api, audience.excludeTagIds),
  ]);
  return { ...texts, ...rest, any, all, none };
}

/** Tags that are asked for at once. */
export const PAGE_TAGS = 20;
const GONE = 404;

/** Tags by their ids, as far as they are there, a page after the other. */
export async function tagsOf(api: ClientApi, ids: readonly number[]): Promise<PickedTag[]> {
  const tags: PickedTag[] = [];
  for (let first = 0; first < ids.length; first += PAGE_TAGS) {
    const page = ids.slice(first, first + PAGE_TAGS);
    const found = await Promise.all(page.map((id) => findTag(api, id)));
    tags.push(...found.filter((tag) => tag !== null));
  }
  return tags;
}

/** Null: it is gone. Any other failure is one: without a tag that excludes, more people get it. */
async function findTag(api: ClientApi, id: number): Promise<PickedTag | null> {
  try {
    const path = { id };
    return (await api.request('GET', '/push-admin-api/v3/{client}/tags/{id}', { path })).body;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === GONE) return null;
    throw error;
  }
}
