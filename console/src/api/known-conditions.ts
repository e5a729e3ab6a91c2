/** What an audience can be made of: attributes, segments, and tags by what an expression calls them. */

import type { Attribute } from '../../../packages/client/src/openapi.ts';
import type { PickedTag } from '../state/draft.svelte.ts';
import { pickedOf } from '../state/tag-offers.svelte.ts';
import type { TagReference } from '../words/audience-rows.ts';
import type { ClientApi } from './client.ts';
import { listSegments } from './segments.ts';
import { tagsById } from './tags-by-id.ts';

export interface KnownConditions {
  readonly attributes: readonly Attribute[];
  /** Their names. */
  readonly segments: readonly string[];
}

export async function readConditions(
  api: ClientApi,
  signal: AbortSignal,
): Promise<KnownConditions> {
  const [attributes, segments] = await Promise.all([
    api.request('GET', '/push-admin-api/v3/{client}/attributes', { signal }),
    listSegments(api, signal),
  ]);
  return { attributes: attributes.body, segments: segments.map(({ name }) => name) };
}

/** The tags of an expression; one that is gone is left out. */
export async function findTags(
  api: ClientApi,
  references: readonly TagReference[],
): Promise<ReadonlyMap<TagReference, PickedTag>> {
  const found = new Map<TagReference, PickedTag>();
  const ids = references.filter((one) => typeof one === 'number');
  for (const tag of await tagsById(api, [...new Set(ids)])) found.set(tag.id, pickedOf(tag));
  for (const sourceId of new Set(references.filter((one) => typeof one === 'string'))) {
    const path = '/push-admin-api/v3/{client}/tags';
    const [tag] = (await api.request('GET', path, { query: { sourceId } })).body;
    if (tag !== undefined) found.set(sourceId, pickedOf(tag));
  }
  return found;
}
