/** Makes a draft of a notification that was sent before. */

import type { Notification, Payload } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { tagsBySourceId } from '../api/known-conditions.ts';
import { tagsById } from '../api/tags-by-id.ts';
import type { DraftFields, PickedTag } from '../state/draft.svelte.ts';
import { hasInput, moreOf } from '../texts/payload-fields.ts';
import { pickedById } from './picked-tags.ts';
import type { ChosenScopes } from './scopes.ts';
import { sentTexts, withTags } from './sent-languages.ts';

/** The fields that the page has inputs for. */
const COMPOSED: ReadonlySet<string> = new Set([
  'title',
  'message',
  'body',
  'url',
  'image',
  'silent',
  'data',
]);

/**
 * Whether a draft can hold what was sent. It has no place for what a template is given, or for parts
 * that only one provider takes: a draft without them would be another push.
 */
export function canBeDraft(notification: Notification): boolean {
  const { payload, givenPayload, platforms } = notification;
  if (givenPayload === undefined) return isComposed(payload);
  const isTemplated = platforms.some(({ payload: made }) => made !== undefined);
  if (isTemplated || sentTexts(givenPayload) === null) return false;
  return isComposed(Object.fromEntries(Object.entries(payload).filter(isOfAll)));
}

const isOfAll = ([name]: readonly [string, unknown]): boolean => name !== 'languages';

const isComposed = (payload: Payload): boolean =>
  Object.keys(payload).every((name) => COMPOSED.has(name) || hasInput(payload, name));

/**
 * For the apps and platforms of `scopes`. Tags that are gone stay in it, marked: without them it
 * might go to more people, so the sender decides.
 */
export async function draftOf(
  api: ClientApi,
  notification: Notification,
  scopes: ChosenScopes,
): Promise<Partial<DraftFields>> {
  const { audience, payload, category = '', caps } = notification;
  const { silent, data } = payload;
  const rest = {
    ...scopes,
    ...moreOf(payload),
    ...(await textsOf(api, notification)),
    isSilent: silent ?? false,
    category,
    ignoresCaps: caps === 'ignore',
    data: data === undefined ? '' : JSON.stringify(data, null, 2),
  };
  if (audience.expression !== undefined) {
    return { ...rest, isExpression: true, expression: audience.expression };
  }
  const [any, all, none] = await Promise.all([
    tagsOf(api, audience.tagIds),
    tagsOf(api, audience.filterTagIds),
    tagsOf(api, audience.excludeTagIds),
  ]);
  return { ...rest, any, all, none };
}

async function textsOf(
  api: ClientApi,
  { payload, givenPayload }: Notification,
): Promise<Partial<DraftFields>> {
  const sent = givenPayload === undefined ? null : sentTexts(givenPayload);
  if (sent === null) {
    const { title = '', message, body, url = '', image = '' } = payload;
    return { title, message: message ?? body ?? '', url, image };
  }
  const sourceIds = sent.languages.flatMap((one) => one.sourceIds);
  const known = await tagsBySourceId(api, sourceIds);
  return { ...sent, languages: withTags(sent.languages, known) };
}

async function tagsOf(api: ClientApi, ids: readonly number[]): Promise<PickedTag[]> {
  const known = await tagsById(api, ids);
  return ids.map((id) => pickedById(id, known));
}
