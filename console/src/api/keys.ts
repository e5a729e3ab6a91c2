/** One further key of the client, with the names of what it is limited to. */

import type { Key } from '../../../packages/client/src/openapi.ts';
import { keyTexts as texts } from '../texts/keys.ts';
import type { ClientApi } from './client.ts';
import { tagsById } from './tags-by-id.ts';

export interface KeyDetails {
  readonly key: Key;
  /** Their names; of one that is deleted its id. */
  readonly tags: readonly string[];
  readonly groups: readonly string[];
  readonly apps: readonly string[];
  /** Null: the audit log does not go back so far. */
  readonly createdBy: string | null;
}

const KEYS_MAX = 1_000;
const AUDIT_MAX = 100;
/** The entry is of the same transaction, whose clock is another node's. */
const CLOCKS_APART_MS = 5_000;

export async function listKeys(api: ClientApi, signal: AbortSignal): Promise<readonly Key[]> {
  const query = { limit: KEYS_MAX };
  return (await api.request('GET', '/push-admin-api/v3/{client}/keys', { query, signal })).body;
}

/** Null: there is no such key. */
export async function readKey(
  api: ClientApi,
  id: number,
  signal: AbortSignal,
): Promise<KeyDetails | null> {
  const key = (await listKeys(api, signal)).find((one) => one.id === id);
  if (key === undefined) return null;
  const { tagIds = [], groupIds = [], appIds = [] } = key;
  const none = Promise.resolve([]);
  const [tags, groups, apps, createdBy] = await Promise.all([
    tagsById(api, tagIds, { signal }),
    groupIds.length === 0 ? none : listOf(api, 'groups', signal),
    appIds.length === 0 ? none : listOf(api, 'apps', signal),
    creatorOf(api, key, signal),
  ]);
  return {
    key,
    tags: namesOf(tagIds, tags),
    groups: namesOf(groupIds, groups),
    apps: namesOf(appIds, apps),
    createdBy,
  };
}

type Named = { readonly id: number; readonly name: string };

const listOf = async (
  api: ClientApi,
  what: 'groups' | 'apps',
  signal: AbortSignal,
): Promise<readonly Named[]> =>
  (await api.request('GET', `/push-admin-api/v3/{client}/${what}`, { signal })).body;

const namesOf = (ids: readonly number[], known: readonly Named[]): readonly string[] =>
  ids.map((id) => known.find((one) => one.id === id)?.name ?? texts.gone(id));

async function creatorOf(
  api: ClientApi,
  { id, createdAt }: Key,
  signal: AbortSignal,
): Promise<string | null> {
  const query = {
    limit: AUDIT_MAX,
    from: createdAt - CLOCKS_APART_MS,
    to: createdAt + CLOCKS_APART_MS,
  };
  const { body } = await api.request('GET', '/push-admin-api/v3/{client}/audit', { query, signal });
  const entry = body.find(
    ({ action, object }) => action === 'key.create' && object.id === String(id),
  );
  return entry === undefined ? null : (entry.actor.name ?? entry.actor.kind);
}
