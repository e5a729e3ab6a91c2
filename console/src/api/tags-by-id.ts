/** Tags by their ids: many with one request. */

import type { Tag } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';

/** The engine takes so many at once. */
const ASKED_MAX = 100;

interface Options {
  readonly signal?: AbortSignal;
  /** With how many devices have each. */
  readonly withDevices?: boolean;
}

/** In the order of the ids; those that are gone are left out. */
export async function tagsById(
  api: ClientApi,
  ids: readonly number[],
  { signal, withDevices = false }: Options = {},
): Promise<readonly Tag[]> {
  const tags = new Map<number, Tag>();
  for (let first = 0; first < ids.length; first += ASKED_MAX) {
    const query = {
      ids: ids.slice(first, first + ASKED_MAX).join(','),
      limit: ASKED_MAX,
      ...(withDevices ? { withDevices: 'true' as const } : {}),
    };
    const path = '/push-admin-api/v3/{client}/tags';
    const { body } = await api.request('GET', path, { query, ...(signal && { signal }) });
    for (const tag of body) tags.set(tag.id, tag);
  }
  return ids.flatMap((id) => tags.get(id) ?? []);
}

/** The names of tags as far as they are asked for, each once. */
export class KnownTagNames {
  readonly names = new Map<number, string>();
  readonly #asked = new Set<number>();
  readonly #api: ClientApi;

  constructor(api: ClientApi) {
    this.#api = api;
  }

  async learn(ids: readonly number[], signal: AbortSignal): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !this.#asked.has(id));
    for (const { id, name } of await tagsById(this.#api, unknown, { signal }))
      this.names.set(id, name);
    for (const id of unknown) this.#asked.add(id);
  }
}
