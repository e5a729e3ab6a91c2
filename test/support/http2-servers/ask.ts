/** Asks a server by our client, and reads its answers. */

import { strict as assert } from 'node:assert';
import type { Settings } from 'node:http2';
import type { PreparedRequest } from '../../../packages/http2/src/client/request-form.ts';
import type { Answer, TestClient } from '../http2-client.ts';
import { getOf, postOf } from '../http2-client.ts';
import type { Counts } from './node-server.ts';
import { COUNTS_PATH, SETTINGS_PATH } from './node-server.ts';
import { SMALL_BODY } from './site.ts';

/** The server demands other settings, and the client has acknowledged them. */
export async function demand(
  client: TestClient,
  origin: string,
  settings: Settings,
): Promise<void> {
  const form = postOf(origin, SETTINGS_PATH, JSON.stringify(settings));
  assert.equal(answered(await askUntilProcessed(client, client.prepare(form))).status, 200);
}

/** Again and again while the server refuses the stream. */
export async function askUntilProcessed(
  client: TestClient,
  request: PreparedRequest,
  value = '',
): Promise<Answer> {
  for (;;) {
    const answer = await client.ask(request, value);
    if (answer.kind === 'answered' || answer.reason !== 'REFUSED_STREAM') return answer;
    assert(answer.isUnprocessed);
  }
}

export async function countsOf(client: TestClient, origin: string): Promise<Counts> {
  return JSON.parse(bodyOf(await client.ask(client.prepare(getOf(origin, COUNTS_PATH))))) as Counts;
}

export function answered(answer: Answer) {
  if (answer.kind === 'answered') return answer;
  throw new Error(`no answer: ${answer.reason}`);
}

export const bodyOf = (answer: Answer): string => answered(answer).body.toString();

export const isSmallFile = (answer: Answer): boolean =>
  answer.kind === 'answered' && answer.status === 200 && answer.body.toString() === SMALL_BODY;

export const times = <T>(count: number, act: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)));
