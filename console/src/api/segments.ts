/** The segments of the client, and how many devices an expression has. */

import type { Segment } from '../../../packages/client/src/openapi.ts';
import { readExpression, segmentsOf } from '../../../src/domain/audience-expression.ts';
import type { Estimate } from '../state/estimate.svelte.ts';
import { Asked } from '../state/estimate.svelte.ts';
import type { ClientApi } from './client.ts';

const SEGMENTS = '/push-admin-api/v3/{client}/segments';
const SEGMENT = `${SEGMENTS}/{name}` as const;
const PAUSE_MS = 400;

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

/** A segment as it is stored, or an expression that is being written. */
type Counted = { readonly name: string } | { readonly expression: string };

/** Counts the devices of a segment; those of one that only narrows among everybody. */
export const segmentEstimates = (api: ClientApi): Asked<Counted, Estimate> =>
  new Asked(PAUSE_MS, async (counted, signal) => {
    if ('name' in counted) {
      const path = { name: counted.name };
      return (await api.request('POST', `${SEGMENT}/estimate`, { path, signal })).body;
    }
    const { expression } = counted;
    const audience = mayOnlyNarrow(expression) ? `(${expression}) && *` : expression;
    const path = '/push-api/v3/{client}/notifications/estimate';
    const body = { audience, approximate: true };
    return (await api.request('POST', path, { body, signal })).body;
  });

/** Beside a tag that it names after all, `*` asks for nothing. */
function mayOnlyNarrow(expression: string): boolean {
  const read = readExpression(expression, { isSegment: true });
  if (!read.ok) return false;
  return segmentsOf(read.expression.root).length > 0 || !readExpression(expression).ok;
}
