/** Offers tags and groups to who chooses: favourites and recent ones first, the rest by text. */

import type { Tag, TagGroup } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from '../api/client.ts';
import { cursorOf } from '../api/page.ts';
import { tagsById } from '../api/tags-by-id.ts';
import { sendTexts as texts } from '../texts/send.ts';
import type { PickedGroup, PickedTag } from './draft.svelte.ts';
import { TagTree } from './tag-tree.svelte.ts';

export interface Offer {
  /** Its own among all offers. */
  readonly key: string;
  readonly name: string;
  /** A heading for it and those after it, up to another one. */
  readonly section: string;
  /** The groups that it is in, from the outermost; '': none. */
  readonly path: string;
  /** Null: not counted. */
  readonly devices: number | null;
  readonly isFavourite: boolean;
  /** Null: a group. */
  readonly tag: PickedTag | null;
  readonly group: PickedGroup | null;
}

/** No more than one looks through at a glance. */
const TAGS_MAX = 20;
const GROUPS_MAX = 5;
const RECENT_TAGS_MAX = 8;
/** The sends whose tags are the recent ones. */
const RECENT_SENDS = 20;
const FAVOURITES_MAX = 30;
/** The engine takes no more tags with a push. */
export const GROUP_TAGS_MAX = 1_000;

export class TagOffers {
  readonly #api: ClientApi;
  readonly #tree: TagTree;
  readonly #storageKey: string;
  #favourites = $state.raw<readonly number[]>([]);
  #begun: Promise<void> | null = null;
  #recent: readonly number[] = [];

  constructor(api: ClientApi) {
    this.#api = api;
    this.#tree = new TagTree(api);
    // Ids alone: they say nothing to the next person who signs in.
    this.#storageKey = `tagcast-favourite-tags-${api.clientId}`;
    const kept: unknown = JSON.parse(localStorage.getItem(this.#storageKey) ?? '[]');
    if (Array.isArray(kept)) this.#favourites = kept.filter((id) => Number.isInteger(id));
  }

  isFavourite(id: number): boolean {
    return this.#favourites.includes(id);
  }

  /** Makes a tag a favourite in this browser, or takes it from them. */
  turnFavourite(id: number): void {
    this.#favourites = this.isFavourite(id)
      ? this.#favourites.filter((one) => one !== id)
      : [id, ...this.#favourites].slice(0, FAVOURITES_MAX);
    localStorage.setItem(this.#storageKey, JSON.stringify(this.#favourites));
  }

  async offer(q: string, withGroups: boolean, signal: AbortSignal): Promise<readonly Offer[]> {
    await this.#ready();
    if (q !== '') {
      const found = await this.#counted({ q, limit: TAGS_MAX }, signal);
      return [...(withGroups ? this.#groupsWith(q) : []), ...this.#of(found, texts.sectionTags)];
    }
    const first = await this.first(signal);
    const isFirst = new Set(first.map(({ tag }) => tag?.id));
    const others = await this.#counted({ limit: TAGS_MAX }, signal);
    const rest = others.filter(({ id }) => !isFirst.has(id));
    return [...first, ...this.#of(rest, texts.sectionTags)];
  }

  /** Favourites, then the tags of the last sends. */
  async first(signal: AbortSignal): Promise<readonly Offer[]> {
    await this.#ready();
    const ids = [...new Set([...this.#favourites, ...this.#recent])];
    const tags = await tagsById(this.#api, ids, { signal, withDevices: true });
    const favourites = tags.filter(({ id }) => this.isFavourite(id));
    const recent = tags.filter(({ id }) => !this.isFavourite(id));
    return [
      ...this.#of(favourites, texts.sectionFavourites),
      ...this.#of(recent, texts.sectionRecent),
    ];
  }

  /** The tags of a group and of those below it. Null: they are more than a push may have. */
  async tagsOf(group: PickedGroup): Promise<readonly PickedTag[] | null> {
    const { body, headers } = await this.#api.request('GET', '/push-admin-api/v3/{client}/tags', {
      query: { groupId: group.id, withGroupsBelow: 'true', limit: GROUP_TAGS_MAX },
    });
    return cursorOf(headers) === null ? body.map((tag) => ({ ...pickedOf(tag), group })) : null;
  }

  /** Once; after a failure again. */
  async #ready(): Promise<void> {
    this.#begun ??= this.#begin();
    try {
      await this.#begun;
    } catch (error) {
      this.#begun = null;
      throw error;
    }
  }

  async #begin(): Promise<void> {
    const path = '/push-api/v3/{client}/notifications';
    const query = { limit: RECENT_SENDS };
    const [sends] = await Promise.all([
      this.#api.request('GET', path, { query }),
      this.#tree.load(),
    ]);
    const ids = sends.body.flatMap(({ audience }) => audience.tagIds);
    this.#recent = [...new Set(ids)].slice(0, RECENT_TAGS_MAX);
  }

  async #counted(
    query: { readonly q?: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly Tag[]> {
    const path = '/push-admin-api/v3/{client}/tags';
    const asked = { ...query, withDevices: 'true' as const };
    return (await this.#api.request('GET', path, { query: asked, signal })).body;
  }

  #groupsWith(q: string): readonly Offer[] {
    const text = q.toLocaleLowerCase();
    return this.#tree.groups
      .filter(({ name }) => name.toLocaleLowerCase().includes(text))
      .slice(0, GROUPS_MAX)
      .map((group) => this.#offerOfGroup(group));
  }

  #offerOfGroup({ id, name, parentId }: TagGroup): Offer {
    return {
      key: `group-${id}`,
      name,
      section: texts.sectionGroups,
      path: this.#tree.pathOf(parentId),
      devices: null,
      isFavourite: false,
      tag: null,
      group: { id, name },
    };
  }

  #of(tags: readonly Tag[], section: string): readonly Offer[] {
    return tags.map((tag) => ({
      key: `tag-${tag.id}`,
      name: tag.name,
      section,
      path: this.#tree.pathOf(tag.groupId),
      devices: tag.devices ?? null,
      isFavourite: this.isFavourite(tag.id),
      tag: pickedOf(tag),
      group: null,
    }));
  }
}

/** The fields of a tag that are kept of one that is chosen. */
export const pickedOf = ({ id, name, sourceId }: Tag): PickedTag => ({
  id,
  name,
  ...(sourceId === undefined ? {} : { sourceId }),
});
