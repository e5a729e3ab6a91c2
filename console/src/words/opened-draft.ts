/** Names the tags and apps of a saved draft by their ids: any key may have written it. */

import type { App, Tag } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { tagsById } from '../api/tags-by-id.ts';
import type { DraftFields, LanguageText, PickedTag } from '../state/draft.svelte.ts';
import { pickedOf, TagOffers } from '../state/tag-offers.svelte.ts';
import { draftTexts as texts } from '../texts/drafts.ts';

type Named = Pick<App, 'id' | 'name'>;

/**
 * The fields with the names that their tags, groups and apps have. What is gone stays, and is shown
 * as deleted: without it the audience might be another.
 */
export async function withNames(api: ClientApi, fields: DraftFields): Promise<DraftFields> {
  const [apps, groups] = await Promise.all([
    api.request('GET', '/push-admin-api/v3/{client}/apps'),
    api.request('GET', '/push-admin-api/v3/{client}/groups'),
  ]);
  const tags = (picked: readonly PickedTag[]) => namedTags(api, picked, groups.body);
  const [any, all, none] = await Promise.all([
    tags(fields.any),
    tags(fields.all),
    tags(fields.none),
  ]);
  const languages: LanguageText[] = [];
  for (const one of fields.languages) languages.push({ ...one, tags: await tags(one.tags) });
  return {
    ...fields,
    any,
    all,
    none,
    languages,
    apps: fields.apps.map(({ id }) => named(id, apps.body)),
  };
}

/** Tags that were chosen with their group are those that it has now. */
async function namedTags(
  api: ClientApi,
  picked: readonly PickedTag[],
  groups: readonly Named[],
): Promise<PickedTag[]> {
  const offers = new TagOffers(api);
  const known = await tagsById(
    api,
    picked.map(({ id }) => id),
  );
  const tags: PickedTag[] = [];
  for (const [groupId, chosen] of Map.groupBy(picked, ({ group }) => group?.id)) {
    const group = groups.find(({ id }) => id === groupId);
    const now = group && (await offers.tagsOf({ id: group.id, name: group.name }));
    tags.push(...(now?.length ? now : chosen.map(({ id }) => namedTag(id, known))));
  }
  return tags.filter(({ id }, at) => tags.findIndex((one) => one.id === id) === at);
}

function namedTag(id: number, known: readonly Tag[]): PickedTag {
  const tag = known.find((one) => one.id === id);
  return tag === undefined ? { id, name: texts.gone(id) } : pickedOf(tag);
}

const named = (id: number, known: readonly Named[]): Named => ({
  id,
  name: known.find((one) => one.id === id)?.name ?? texts.gone(id),
});
