/** Requests that the routes of imports and exports refuse; the commands' tests hold the rest. */

import t from 'tap';
import { fetchWithin } from '../../../src/api/operator-door.ts';
import { operatorRoutes } from '../../../src/api/operator-routes.ts';
import { makeOperatorParts } from '../../support/operator-parts.ts';
import { withStores } from '../../support/store.ts';
import { makeTenant } from '../../support/tenant.ts';

await withStores(t, async (t, store) => {
  const { appId } = await makeTenant(store.sql, 'acme');
  const ask = fetchWithin(operatorRoutes(makeOperatorParts(store)));
  const told = async (method: string, path: string, body?: object): Promise<unknown> => {
    const url = `http://engine/operator/v1/apps/${path}`;
    const answer = await ask(url, { method, ...(body && { body: JSON.stringify(body) }) });
    const { status, detail, errors } = (await answer.json()) as Record<string, unknown>;
    return { status, detail, errors };
  };
  const batch = { startedAt: 1, replacesTags: false };
  const device = { platformId: 15, deviceId: 'a', tagIds: [] };

  for (const [method, path] of [
    ['GET', 'devices'],
    ['GET', 'devices/scope'],
    ['POST', 'devices/begin-import'],
  ] as const) {
    t.match(await told(method, `999999/${path}`), {
      status: 404,
      detail: 'There is no app 999999.',
    });
  }
  t.match(await told('GET', 'x/devices'), { status: 404, detail: 'There is no such app.' });
  for (const cursor of ['x', '3', '0.1', '3.-1', '3.2147483647', '2147483648.1', '3.1.2']) {
    t.match(
      await told('GET', `${appId}/devices?cursor=${cursor}`),
      { status: 400, errors: [{ path: 'cursor', message: 'must be the `next` of a page' }] },
      cursor,
    );
  }
  t.match(
    await told('POST', `${appId}/devices`, { ...batch, devices: [{ ...device, platformId: 7 }] }),
    { status: 400, detail: `App ${appId} has no platform 7.` },
  );
  t.match(
    await told('POST', `${appId}/devices`, { ...batch, devices: Array(1_001).fill(device) }),
    { status: 400, errors: [{ path: 'devices', message: 'must have 1000 entries at most' }] },
  );
  t.match(
    await told('POST', `${appId}/devices`, { ...batch, devices: [{ ...device, deviceId: '\0' }] }),
    { status: 400, errors: [{ path: 'devices.0.deviceId' }] },
  );
  t.match(
    await told('POST', `${appId}/devices/find-tags`, {
      create: false,
      tags: Array(1_001).fill({}),
    }),
    { status: 400, errors: [{ path: 'tags', message: 'must have 1000 entries at most' }] },
  );
  const long = { sourceId: '語'.repeat(255), name: '語'.repeat(255) };
  const answer = await ask(`http://engine/operator/v1/apps/${appId}/devices/find-tags`, {
    method: 'POST',
    body: JSON.stringify({ create: false, tags: Array(1_000).fill(long) }),
  });
  t.equal(answer.status, 200, 'a whole request of long names');
});
