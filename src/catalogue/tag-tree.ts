/** The tags of an app in their tag groups, as `tags` returns them. */

import { hash } from 'node:crypto';
import { CappedMap } from '../../packages/std/src/capped-map.ts';
import type { Sql } from '../database/sql.ts';
import type { CatalogueTag, TagGroup } from '../domain/tag.ts';
import { groupBy } from '../std/group-by.ts';
import type { Snapshot } from './snapshot.ts';
import type { ParametersOfTags } from './sql/read-parameters.ts';
import { readParameters } from './sql/read-parameters.ts';
import type { TagObject } from './tag-object.ts';
import { tagObject } from './tag-object.ts';

/** The POST form names the default group without an id, the GET form with id 0. */
type TreeForm = 'post' | 'get';

export interface TreeRequest {
  readonly clientId: number;
  readonly snapshot: Snapshot;
  readonly appId: number;
  readonly form: TreeForm;
  readonly nowMs: number;
}

export interface RenderedTree {
  readonly body: string;
  /** A hash of the bytes: it changes when a tag expires, and is the same on every node. */
  readonly etag: string;
  /** When the next tag expires, which changes the body. */
  readonly validUntilMs: number;
}

interface GroupObject {
  readonly id: number;
  readonly sourceId?: string;
  readonly name: string;
  readonly tags: readonly TagObject[];
  readonly groups: readonly GroupObject[];
}

/**
 * Enough for those in constant use, or for some of the largest.
 * @limit octets of rendered trees of tags that are kept → those rendered longest ago are dropped,
 * and rendered again
 */
const BYTES_MAX = 128 * 1_048_576;
/** A tree counts with its weight as soon as it is rendered. */
const WAITED_FOR_BYTES = 0;

interface Kept {
  readonly version: number;
  readonly tree: Promise<RenderedTree>;
}

/** Renders a tree once per catalogue version, app and form: a client may have 100,000 tags. */
export class TagTrees {
  readonly #sql: Sql;
  readonly #kept: CappedMap<string, Kept>;

  constructor(sql: Sql, bytesMax = BYTES_MAX) {
    this.#sql = sql;
    this.#kept = new CappedMap({ weightMax: bytesMax });
  }

  get bytes(): number {
    return this.#kept.weight;
  }

  async render(request: TreeRequest): Promise<RenderedTree> {
    const { clientId, snapshot, appId, form, nowMs } = request;
    const key = `${clientId}.${appId}.${form}`;
    const known = this.#kept.get(key);
    if (known?.version === snapshot.version) {
      const tree = await known.tree;
      if (nowMs < tree.validUntilMs) return tree;
    }
    // Another request that waited for the same tree may have begun the next one.
    const begun = this.#kept.get(key);
    if (begun !== undefined && begun !== known && begun.version === snapshot.version) {
      return begun.tree;
    }
    const tree = this.#make(request);
    const kept: Kept = { version: snapshot.version, tree };
    this.#kept.set(key, kept, WAITED_FOR_BYTES);
    try {
      const { body } = await tree;
      if (this.#kept.get(key) === kept) this.#kept.set(key, kept, body.length);
    } catch (error) {
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
      throw error;
    }
    return tree;
  }

  /**
   * Parameters are read after the snapshot, so they may be newer. They then belong to a newer
   * version, for which the tree is rendered again.
   */
  async #make({ clientId, snapshot, appId, form, nowMs }: TreeRequest): Promise<RenderedTree> {
    const parameters = await readParameters(this.#sql, clientId);
    const tags = snapshot.tagsOfApp(appId, nowMs);
    const body = JSON.stringify(makeTree(snapshot, tags, parameters, form));
    const expiries = tags.flatMap((tag) => (tag.expiresAtMs === null ? [] : [tag.expiresAtMs]));
    return {
      body,
      etag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"`,
      validUntilMs: expiries.reduce((least, expiry) => Math.min(least, expiry), Infinity),
    };
  }
}

function makeTree(
  snapshot: Snapshot,
  tags: readonly CatalogueTag[],
  parameters: ParametersOfTags,
  form: TreeForm,
): readonly unknown[] {
  const objectOf = (tag: CatalogueTag): TagObject =>
    tagObject({ ...tag, optionalParameters: parameters.get(tag.id) ?? null });
  const tagsByGroup = groupBy(tags, (tag) => tag.groupId);
  const groupsByParent = groupBy([...snapshot.tagGroups.values()], (group) => group.parentId);
  const toObject = (group: TagGroup): GroupObject => ({
    id: group.id,
    ...(group.sourceId === null ? {} : { sourceId: group.sourceId }),
    name: group.name,
    tags: (tagsByGroup.get(group.id) ?? []).map(objectOf),
    groups: (groupsByParent.get(group.id) ?? []).map(toObject),
  });
  const ungrouped = (tagsByGroup.get(null) ?? []).map(objectOf);
  return [
    { ...(form === 'get' ? { id: 0 } : {}), name: 'default', tags: ungrouped },
    ...(groupsByParent.get(null) ?? []).map(toObject),
  ];
}
