/** The drafts that the members of the client share. */

import type { Draft, ListedDraft } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';

const DRAFTS = '/push-api/v3/{client}/drafts';
const DRAFT = `${DRAFTS}/{id}` as const;

export async function listDrafts(
  api: ClientApi,
  signal: AbortSignal,
): Promise<readonly ListedDraft[]> {
  return (await api.request('GET', DRAFTS, { signal })).body;
}

export async function readDraft(api: ClientApi, id: number): Promise<Draft> {
  return (await api.request('GET', DRAFT, { path: { id } })).body;
}

export async function saveDraft(
  api: ClientApi,
  name: string,
  content: Draft['content'],
): Promise<Draft> {
  return (await api.request('POST', DRAFTS, { body: { name, content } })).body;
}

/** Rejects with 409 when somebody else has changed it since this revision. */
export async function changeDraft(
  api: ClientApi,
  { id, revision }: Pick<Draft, 'id' | 'revision'>,
  content: Draft['content'],
): Promise<Draft> {
  return (await api.request('PATCH', DRAFT, { path: { id }, body: { content, revision } })).body;
}

export async function discardDraft(api: ClientApi, id: number): Promise<void> {
  await api.request('DELETE', DRAFT, { path: { id } });
}
