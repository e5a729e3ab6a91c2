/** The categories of a client, and their limits. */

import type { Policies, PoliciesRequest } from '../../../packages/client/src/openapi.ts';
import type { ClientApi } from './client.ts';

export interface ReadPolicies {
  readonly policies: Policies;
  /** Names what was read, so that no change of others is overwritten. */
  readonly etag: string;
}

export async function readPolicies(api: ClientApi, signal?: AbortSignal): Promise<ReadPolicies> {
  const path = '/push-admin-api/v3/{client}/policies';
  const answer = await api.request('GET', path, signal === undefined ? {} : { signal });
  return { policies: answer.body, etag: answer.headers.get('etag') ?? '*' };
}

export async function writePolicies(
  api: ClientApi,
  body: PoliciesRequest,
  etag: string,
): Promise<ReadPolicies> {
  const answer = await api.request('PUT', '/push-admin-api/v3/{client}/policies', {
    body,
    headers: { 'If-Match': etag },
  });
  return { policies: answer.body, etag: answer.headers.get('etag') ?? '*' };
}
