/** Reads the parts of an audience: attributes and their values, segments, tags, apps. */

import type { App, AttributeValue } from '../../../packages/client/src/openapi.ts';
import type { PickedTag } from '../state/draft.svelte.ts';
import { pickedOf } from '../state/tag-offers.svelte.ts';
import type { TagReference } from '../words/rows-of-expression.ts';
import type { TestedAttribute } from '../words/tested-attributes.ts';
import { hasValueList, testedAttributes } from '../words/tested-attributes.ts';
import type { ClientApi } from './client.ts';
import { listSegments } from './segments.ts';
import { tagsById } from './tags-by-id.ts';

export interface KnownConditions {
  readonly attributes: readonly TestedAttribute[];
  /** Their names. */
  readonly segments: readonly string[];
  readonly apps: readonly App[];
}

export async function readConditions(
  api: ClientApi,
  signal: AbortSignal,
): Promise<KnownConditions> {
  const [attributes, segments, apps] = await Promise.all([
    api.request('GET', '/push-admin-api/v3/{client}/attributes', { signal }),
    listSegments(api, signal),
    api.request('GET', '/push-admin-api/v3/{client}/apps', { signal }),
  ]);
  return {
    attributes: testedAttributes(attributes.body),
    segments: segments.map(({ name }) => name),
    apps: apps.body,
  };
}

/** The tags of an expression; one that is gone is left out. */
export async function findTags(
  api: ClientApi,
  references: readonly TagReference[],
): Promise<ReadonlyMap<TagReference, PickedTag>> {
  const found = new Map<TagReference, PickedTag>();
  const ids = references.filter((one) => typeof one === 'number');
  for (const tag of await tagsById(api, [...new Set(ids)])) found.set(tag.id, pickedOf(tag));
  const sourceIds = references.filter((one) => typeof one === 'string');
  for (const [sourceId, tag] of await tagsBySourceId(api, sourceIds)) found.set(sourceId, tag);
  return found;
}

/** One that is gone is left out. */
export async function tagsBySourceId(
  api: ClientApi,
  sourceIds: readonly string[],
): Promise<ReadonlyMap<string, PickedTag>> {
  const path = '/push-admin-api/v3/{client}/tags';
  const asked = [...new Set(sourceIds)].map(async (sourceId) => {
    const [tag] = (await api.request('GET', path, { query: { sourceId } })).body;
    return tag === undefined ? [] : [[sourceId, pickedOf(tag)] as const];
  });
  return new Map((await Promise.all(asked)).flat());
}

/** No more than one looks through at a glance. */
const VALUES_OFFERED_MAX = 10;

/** Values of an attribute with this text in them. None where they may not be listed. */
export async function offerValues(
  api: ClientApi,
  attribute: TestedAttribute,
  q: string,
  signal: AbortSignal,
): Promise<readonly AttributeValue[]> {
  const { name, isPersonal } = attribute;
  if (isPersonal || !hasValueList(attribute)) return [];
  const path = '/push-admin-api/v3/{client}/attributes/{name}/values';
  const query = { limit: VALUES_OFFERED_MAX, ...(q === '' ? {} : { q }) };
  return (await api.request('GET', path, { path: { name }, query, signal })).body;
}
