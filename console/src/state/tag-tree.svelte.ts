/**
 * The tree of groups and tags as a list of rows: groups are known from the beginning, the tags of a
 * group are asked for when it is opened, page by page as they are seen.
 */

import type { Tag, TagGroup } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { cursorOf } from '../api/page.ts';

export type TreeRow =
  | {
      readonly kind: 'group';
      readonly key: string;
      readonly depth: number;
      readonly group: TagGroup | null;
      readonly isOpen: boolean;
    }
  | { readonly kind: 'tag'; readonly key: string; readonly depth: number; readonly tag: Tag }
  | {
      readonly kind: 'more';
      readonly key: string;
      readonly depth: number;
      readonly groupId: number;
    };

/** The tags of one group, as far as they were asked for. */
interface Branch {
  readonly tags: readonly Tag[];
  /** Null: these are all. */
  readonly cursor: string | null;
}

/** Tags in no group; the API calls that group 0. */
export const NO_GROUP = 0;
const PAGE_ROWS = 500;
const FOUND_MAX = 200;
/**
 * Tags of a group that are read again after a change: ten requests. Later ones are read when they
 * are seen.
 */
const READ_AGAIN_MAX = 5_000;

export class TagTree {
  groups = $state.raw<readonly TagGroup[]>([]);
  /** The search's results; null: no search. */
  found = $state.raw<readonly Tag[] | null>(null);
  isFoundCut = $state(false);
  #branches = $state.raw<ReadonlyMap<number, Branch>>(new Map());
  #open = $state.raw<ReadonlySet<number>>(new Set([NO_GROUP]));
  readonly #api: ClientApi;
  /** The pages that were asked for; another set for each reading of the tree, before which all is old. */
  #asked = new Set<string>();

  constructor(api: ClientApi) {
    this.#api = api;
  }

  /** The rows that can be seen, from top to bottom. */
  rows = $derived.by((): readonly TreeRow[] => {
    if (this.found !== null) return this.found.map((tag) => tagRow(tag, 0));
    const children = Map.groupBy(this.groups, ({ parentId }) => parentId ?? NO_GROUP);
    const rows: TreeRow[] = [];
    const add = (group: TagGroup | null, depth: number): void => {
      const id = group?.id ?? NO_GROUP;
      const isOpen = this.#open.has(id);
      rows.push({ kind: 'group', key: `g${id}`, depth, group, isOpen });
      if (!isOpen) return;
      for (const child of group === null ? [] : (children.get(id) ?? [])) add(child, depth + 1);
      const branch = this.#branches.get(id);
      for (const tag of branch?.tags ?? []) rows.push(tagRow(tag, depth + 1));
      if (branch === undefined || branch.cursor !== null) {
        rows.push({ kind: 'more', key: `m${id}`, depth: depth + 1, groupId: id });
      }
    };
    for (const group of children.get(NO_GROUP) ?? []) add(group, 0);
    add(null, 0);
    return rows;
  });

  /**
   * Reads the groups, and of those that are open what was read before: who looks at them stays
   * where they are.
   */
  async load(): Promise<void> {
    const asked = new Set<string>();
    this.#asked = asked;
    const { body } = await this.#api.request('GET', '/push-admin-api/v3/{client}/groups');
    const known = new Set([NO_GROUP, ...body.map(({ id }) => id)]);
    const branches = new Map<number, Branch>();
    for (const [groupId, { tags }] of this.#branches) {
      if (!known.has(groupId) || !this.#open.has(groupId)) continue;
      branches.set(groupId, await this.#readAgain(groupId, tags.length));
    }
    if (this.#asked !== asked) return;
    this.groups = body;
    this.#branches = branches;
    this.#asked = new Set();
  }

  async search(q: string, signal: AbortSignal): Promise<void> {
    if (q === '') {
      this.found = null;
      return;
    }
    const { body, headers } = await this.#api.request('GET', '/push-admin-api/v3/{client}/tags', {
      query: { q, limit: FOUND_MAX },
      signal,
    });
    this.found = body;
    this.isFoundCut = cursorOf(headers) !== null;
  }

  toggle(groupId: number): void {
    const open = new Set(this.#open);
    if (!open.delete(groupId)) open.add(groupId);
    this.#open = open;
  }

  /** The next page of a group; asked for once. */
  async more(groupId: number): Promise<void> {
    const branch = this.#branches.get(groupId);
    const key = `${groupId} ${branch?.cursor}`;
    const asked = this.#asked;
    if (asked.has(key)) return;
    asked.add(key);
    try {
      const next = await this.#readPage(groupId, branch);
      if (this.#asked === asked) this.#branches = new Map(this.#branches).set(groupId, next);
    } catch (error) {
      asked.delete(key);
      throw error;
    }
  }

  async #readAgain(groupId: number, count: number): Promise<Branch> {
    let branch = await this.#readPage(groupId);
    while (branch.cursor !== null && branch.tags.length < Math.min(count, READ_AGAIN_MAX)) {
      branch = await this.#readPage(groupId, branch);
    }
    return branch;
  }

  /** With one page more. */
  async #readPage(groupId: number, before?: Branch): Promise<Branch> {
    const cursor = before?.cursor ?? undefined;
    const { body, headers } = await this.#api.request('GET', '/push-admin-api/v3/{client}/tags', {
      query: { groupId, limit: PAGE_ROWS, ...(cursor === undefined ? {} : { cursor }) },
    });
    return { tags: [...(before?.tags ?? []), ...body], cursor: cursorOf(headers) };
  }

  /** The names of a group and of those around it, from the outermost. */
  pathOf(groupId: number | undefined): string {
    const names: string[] = [];
    let at = groupId;
    while (at !== undefined) {
      const group = this.groups.find(({ id }) => id === at);
      if (group === undefined) break;
      names.unshift(group.name);
      at = group.parentId;
    }
    return names.join(' › ');
  }
}

const tagRow = (tag: Tag, depth: number): TreeRow => ({
  kind: 'tag',
  key: `t${tag.id}`,
  depth,
  tag,
});
