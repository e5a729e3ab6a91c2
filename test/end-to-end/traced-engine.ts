/** Asks an engine as its publisher, for tests of traces. */

import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';

export async function post(
  { baseUrl, demo }: EngineProcess,
  path: string,
  body: object,
  traceparent?: string,
): Promise<Record<string, unknown>> {
  const headers = {
    Authorization: `Bearer ${demo().superUser.token}`,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
  const url = `${baseUrl}/push-api/v3/${demo().clientId}/notifications${path}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}

export const ended = ({ baseUrl, demo }: EngineProcess, id: string): Promise<true> =>
  until(`${id} has ended`, async () => {
    const headers = { Authorization: `Bearer ${demo().superUser.token}` };
    const url = `${baseUrl}/push-api/v3/${demo().clientId}/notifications/${id}`;
    const { state } = (await (await fetch(url, { headers })).json()) as { state: string };
    return state === 'FINISHED' ? true : null;
  });
