/** The tags of an app in their groups, as `tags` answers them. */

import { hash } from 'node:crypto';
import type { Tag, TagGroup } from '../../domain/tag.ts';
import type { Snapshot } from '../../registration/snapshot.ts';
import type { TagObject } from './tag-object.ts';
import { tagObject } from './tag-object.ts';

/** The POST form names the default group without an id, the GET form with id 0 (spec/interface.md, section 3). */
export type TreeForm = 'post' | 'get';

export interface RenderedTree {
  readonly body: string;
  /** Of the bytes, so that it changes when a tag expires and on no other node. */
  readonly etag: string;
  /** When the next tag expires and the body is another one. */
  readonly validUntilMs: number;
}

interface GroupObject {
  readonly id: number;
  readonly sourceId?: string;
  readonly name: string;
  readonly tags: readonly TagObject[];
  readonly groups: readonly GroupObject[];
}

/** Rendered once for each snapshot, app and form: a client may have 100,000 tags. */
const rendered = new WeakMap<Snapshot, Map<string, RenderedTree>>();

export function renderTree(
  snapshot: Snapshot,
  appId: number,
  form: TreeForm,
  nowMs: number,
): RenderedTree {
  let trees = rendered.get(snapshot);
  if (trees === undefined) {
    trees = new Map();
    rendered.set(snapshot, trees);
  }
  const key = `${appId}.${form}`;
  const known = trees.get(key);
  if (known !== undefined && nowMs < known.validUntilMs) return known;
  const tags = snapshot.tagsOfApp(appId, nowMs);
  const body = JSON.stringify(makeTree(snapshot, tags, form));
  const expiries = tags.flatMap((tag) => (tag.expiresAtMs === null ? [] : [tag.expiresAtMs]));
  const tree: RenderedTree = {
    body,
    etag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"`,
    validUntilMs: expiries.reduce((least, expiry) => Math.min(least, expiry), Infinity),
  };
  trees.set(key, tree);
  return tree;
}

function makeTree(snapshot: Snapshot, tags: readonly Tag[], form: TreeForm): readonly unknown[] {
  const tagsByGroup = groupBy(tags, (tag) => tag.groupId);
  const groupsByParent = groupBy([...snapshot.groups.values()], (group) => group.parentId);
  const toObject = (group: TagGroup): GroupObject => ({
    id: group.id,
    ...(group.sourceId === null ? {} : { sourceId: group.sourceId }),
    name: group.name,
    tags: (tagsByGroup.get(group.id) ?? []).map(tagObject),
    groups: (groupsByParent.get(group.id) ?? []).map(toObject),
  });
  const ungrouped = (tagsByGroup.get(null) ?? []).map(tagObject);
  return [
    { ...(form === 'get' ? { id: 0 } : {}), name: 'default', tags: ungrouped },
    ...(groupsByParent.get(null) ?? []).map(toObject),
  ];
}

/** Map.groupBy, which Node 20 does not have. */
function groupBy<K, V>(values: readonly V[], keyOf: (value: V) => K): ReadonlyMap<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}
