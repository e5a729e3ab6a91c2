/** Bulk operations: listed, started, cancelled. */

import type { BulkOperation } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';
import { cursorOf } from './page.ts';
import { KnownTagNames } from './tags-by-id.ts';

const OPERATIONS = '/push-admin-api/v3/{client}/operations';
const OPERATION = `${OPERATIONS}/{id}` as const;
const PAGE_ROWS = 50;
/** The engine takes so many with one request. */
export const DEVICES_PER_OPERATION_MAX = 1_000;
/** The engine takes so many operations that have not ended. */
const OPERATIONS_MAX = 100;
export const LISTED_DEVICES_MAX = DEVICES_PER_OPERATION_MAX * OPERATIONS_MAX;

export interface BulkPage {
  readonly rows: readonly BulkOperation[];
  readonly cursor: string | null;
  /** Keyed by id; without those of tags that are gone. */
  readonly names: ReadonlyMap<number, string>;
}

/** Reads operations with the names of their tags, which it asks for once. */
export class BulkOperations {
  readonly #api: ClientApi;
  readonly #known: KnownTagNames;

  constructor(api: ClientApi) {
    this.#api = api;
    this.#known = new KnownTagNames(api);
  }

  async list(query: URLSearchParams, signal: AbortSignal): Promise<BulkPage> {
    const cursor = query.get('cursor');
    const { body, headers } = await this.#api.request('GET', OPERATIONS, {
      query: { limit: PAGE_ROWS, ...(cursor === null ? {} : { cursor }) },
      signal,
    });
    return { rows: body, cursor: cursorOf(headers), names: await this.#namesOf(body, signal) };
  }

  async read(
    id: number,
    signal: AbortSignal,
  ): Promise<{ readonly operation: BulkOperation; readonly names: BulkPage['names'] }> {
    const { body } = await this.#api.request('GET', OPERATION, { path: { id }, signal });
    return { operation: body, names: await this.#namesOf([body], signal) };
  }

  async #namesOf(
    operations: readonly BulkOperation[],
    signal: AbortSignal,
  ): Promise<BulkPage['names']> {
    const ids = operations.flatMap(({ tagIds = [], tagId, toTagId }) => [
      ...tagIds,
      ...[tagId, toTagId].filter((id) => id !== undefined),
    ]);
    await this.#known.learn(ids, signal);
    return this.#known.names;
  }
}

export interface ListChange {
  readonly appId: number;
  readonly platformId: number;
  readonly action: 'subscribe' | 'unsubscribe';
  readonly tagIds: readonly number[];
}

export interface MembersChange {
  readonly action: 'copy' | 'move' | 'remove';
  readonly tagId: number;
  /** Null: they only lose theirs. */
  readonly toTagId: number | null;
}

/** Changes the tags of up to `DEVICES_PER_OPERATION_MAX` devices. Answers the operation's id. */
export async function changeSubscriptions(
  api: ClientApi,
  { appId, platformId, action, tagIds }: ListChange,
  deviceIds: readonly string[],
): Promise<number> {
  const { body } = await api.request(
    'POST',
    '/push-admin-api/v3/{client}/apps/{id}/platforms/{platform}/subscriptions',
    { path: { id: appId, platform: platformId }, body: { action, tagIds, deviceIds } },
  );
  return body.id;
}

/** Answers the operation's id. */
export async function changeMembers(
  api: ClientApi,
  { action, tagId, toTagId }: MembersChange,
): Promise<number> {
  const { body } = await api.request('POST', '/push-admin-api/v3/{client}/tags/{id}/members', {
    path: { id: tagId },
    body: { action, ...(toTagId === null ? {} : { toTagId }) },
  });
  return body.id;
}

export async function cancelOperation(api: ClientApi, id: number): Promise<void> {
  await api.request('POST', `${OPERATION}/cancel`, { path: { id } });
}
