/** The segments of the client, and how many devices an expression has. */

import { ProblemError } from '../../../packages/client/src/client.ts';
import type { Segment } from '../../../packages/client/src/openapi.ts';
import { readExpression } from '../../../src/domain/audience-expression.ts';
import type { Estimate } from '../state/estimate.svelte.ts';
import { Asked } from '../state/estimate.svelte.ts';
import type { ClientApi } from './client.ts';

const SEGMENTS = '/push-admin-api/v3/{client}/segments';
const SEGMENT = `${SEGMENTS}/{name}` as const;
const PAUSE_MS = 400;
const BAD_REQUEST = 400;

export async function listSegments(
  api: ClientApi,
  signal: AbortSignal,
): Promise<readonly Segment[]> {
  return (await api.request('GET', SEGMENTS, { signal })).body;
}

export async function readSegment(
  api: ClientApi,
  name: string,
  signal: AbortSignal,
): Promise<Segment> {
  return (await api.request('GET', SEGMENT, { path: { name }, signal })).body;
}

/** The fields of a segment that may be changed. */
export interface SegmentTerms {
  readonly expression: string;
  readonly description: string | null;
}

export async function createSegment(
  api: ClientApi,
  name: string,
  terms: SegmentTerms,
): Promise<void> {
  await api.request('POST', SEGMENTS, { body: { name, ...terms } });
}

export async function changeSegment(
  api: ClientApi,
  name: string,
  terms: SegmentTerms,
): Promise<void> {
  await api.request('PATCH', SEGMENT, { path: { name }, body: terms });
}

export async function deleteSegment(api: ClientApi, name: string): Promise<void> {
  await api.request('DELETE', SEGMENT, { path: { name } });
}

/** Counts the devices of an expression that is being written. */
export const segmentEstimates = (api: ClientApi): Asked<string, Estimate> =>
  new Asked(PAUSE_MS, async (expression, signal) => {
    try {
      return await estimateOf(api, expression, signal);
    } catch (error) {
      const isRefused = error instanceof ProblemError && error.status === BAD_REQUEST;
      if (!isRefused || !readExpression(expression, { isSegment: true }).ok) throw error;
      // It may only narrow: then it is counted among everybody.
      return await estimateOf(api, `* && (${expression})`, signal);
    }
  });

async function estimateOf(
  api: ClientApi,
  audience: string,
  signal: AbortSignal,
): Promise<Estimate> {
  const { body } = await api.request('POST', '/push-api/v3/{client}/notifications/estimate', {
    body: { audience, approximate: true },
    signal,
  });
  return body;
}
