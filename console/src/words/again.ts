/** Makes a draft of a notification that was sent before. */

import type { Notification } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { tagsById } from '../api/tags-by-id.ts';
import type { DraftFields } from '../state/draft.svelte.ts';
import { hasInput, moreOf } from '../texts/payload-fields.ts';
import type { ChosenScopes } from './scopes.ts';

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
 * Whether a draft can hold what was sent. It has no place for several languages, for what a template
 * is given, or for parts that only one provider takes: a draft without them would be another push.
 */
export const canBeDraft = ({ payload, givenPayload }: Notification): boolean =>
  givenPayload === undefined &&
  Object.keys(payload).every((name) => COMPOSED.has(name) || hasInput(payload, name));

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
    tagsById(api, audience.tagIds),
    tagsById(api, audience.filterTagIds),
    tagsById(api, audience.excludeTagIds),
  ]);
  return { ...texts, ...rest, any: [...any], all: [...all], none: [...none] };
}
