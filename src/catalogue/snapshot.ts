/** A client's apps, tags and groups as of one version, with the look-ups that requests need. */

import type { CatalogueTag, TagGroup } from '../domain/tag.ts';
import { isConnected, isExpired } from '../domain/tag.ts';
import type { AppRow, CatalogueRows } from './sql/load-catalogue.ts';

/** Names of tags in a request: ids and sourceIds. */
export interface TagNames {
  readonly ids: readonly number[];
  readonly sourceIds: readonly string[];
}

/** Resolved names: the tags, each once, and the names of no tag. */
export interface ResolvedTags {
  readonly tags: readonly CatalogueTag[];
  readonly unknownIds: readonly number[];
  readonly unknownSourceIds: readonly string[];
}

export class Snapshot {
  readonly version: number;
  readonly apps: ReadonlyMap<number, AppRow>;
  /** Tags by id, in order of ids; expired ones too. */
  readonly tags: ReadonlyMap<number, CatalogueTag>;
  readonly tagsBySourceId: ReadonlyMap<string, CatalogueTag>;
  /** Groups by id, in order of ids. */
  readonly tagGroups: ReadonlyMap<number, TagGroup>;
  readonly tagGroupsBySourceId: ReadonlyMap<string, TagGroup>;
  readonly bytes: number;

  constructor(rows: CatalogueRows) {
    this.version = rows.version;
    this.apps = new Map(rows.apps.map((app) => [app.id, app]));
    this.tags = new Map(rows.tags.map((tag) => [tag.id, tag]));
    this.tagsBySourceId = bySourceId(rows.tags);
    this.tagGroups = new Map(rows.tagGroups.map((group) => [group.id, group]));
    this.tagGroupsBySourceId = bySourceId(rows.tagGroups);
    this.bytes = [...rows.tags, ...rows.tagGroups].reduce(
      (bytes, row) => bytes + bytesOf(row),
      rows.apps.length * ROW_BYTES,
    );
  }

  hasPlatform(appId: number, platformId: number): boolean {
    return this.apps.get(appId)?.platformIds.includes(platformId) ?? false;
  }

  /** Finds tags by their names, expired ones too. */
  resolve({ ids, sourceIds }: TagNames): ResolvedTags {
    const tags = new Set<CatalogueTag>();
    const unknownIds: number[] = [];
    const unknownSourceIds: string[] = [];
    for (const id of ids) {
      const tag = this.tags.get(id);
      if (tag === undefined) unknownIds.push(id);
      else tags.add(tag);
    }
    for (const sourceId of sourceIds) {
      const tag = this.tagsBySourceId.get(sourceId);
      if (tag === undefined) unknownSourceIds.push(sourceId);
      else tags.add(tag);
    }
    return { tags: [...tags], unknownIds, unknownSourceIds };
  }

  /** The apps of the client that any of these tags is connected to. */
  appsOf(tags: readonly CatalogueTag[]): readonly AppRow[] {
    return [...this.apps.values()].filter((app) => tags.some((tag) => isConnected(tag, app.id)));
  }

  /** The tags that can be seen in an app and subscribed to, by id. */
  tagsOfApp(appId: number, nowMs: number): readonly CatalogueTag[] {
    return [...this.tags.values()].filter((tag) => isSubscribable(tag, appId, nowMs));
  }
}

/** An object with its places in the maps: measured, a tag takes about 300 bytes. */
const ROW_BYTES = 300;
const bytesOf = ({ name, sourceId }: CatalogueTag | TagGroup): number =>
  ROW_BYTES + name.length + (sourceId?.length ?? 0);

export const isSubscribable = (tag: CatalogueTag, appId: number, nowMs: number): boolean =>
  isConnected(tag, appId) && !isExpired(tag, nowMs);

function bySourceId<T extends { readonly sourceId: string | null }>(
  rows: readonly T[],
): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (const row of rows) if (row.sourceId !== null) map.set(row.sourceId, row);
  return map;
}
