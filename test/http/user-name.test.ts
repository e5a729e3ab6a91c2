/** Who learns by which member something was submitted, over HTTP and on both stores. */

import type { Test } from 'tap';
import t from 'tap';
import type { Store } from '../../src/database/store.ts';
import { bulkResourceRoutes } from '../../src/devices/routes/bulk-resources.ts';
import { insertBulkOperation } from '../../src/devices/sql/insert-operation.ts';
import type { SignedIn } from '../support/accounts.ts';
import { signUpAndIn } from '../support/accounts.ts';
import { startApiOn } from '../support/api.ts';
import type { JobsApi } from '../support/jobs-api.ts';
import { startJobsApi } from '../support/jobs-api.ts';
import { onEachStore } from '../support/on-each-store.ts';

const ANN = 'ann@example.com';
type Headers = Readonly<Record<string, string>>;
const EVENT = /^data: (.+)$/m;

/** A client with a member who has submitted a job, and its callers. */
async function makeScene(t: Test, store: Store) {
  const api = await startJobsApi(t, store, 'acme');
  const { clientId, tagId } = api.tenant;
  const member = (email: string, role: 'publisher' | 'viewer'): Promise<SignedIn> =>
    signUpAndIn(store.sql, { email, roles: [[clientId, role]] });
  const ann = await member(ANN, 'publisher');
  const viewer = await member('vic@example.com', 'viewer');
  const answer = await fetch(`${api.baseUrl}/push-api/v3/acme/notifications`, {
    method: 'POST',
    headers: ann.headers,
    body: JSON.stringify({ tagIds: [tagId], payload: { title: 'goal!' } }),
  });
  const { id } = (await answer.json()) as { readonly id: string };
  const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
  const callers: readonly (readonly [who: string, headers: Headers, told: string])[] = [
    ['a key that reads', bearer(await api.key({ scopes: ['read', 'send'] })), 'member'],
    ['a key that administers', bearer(await api.key({ scopes: ['read', 'admin'] })), ANN],
    ['the super user', bearer(api.tenant.superUser.token), ANN],
    ['the member', ann.headers, ANN],
    ['another member', viewer.headers, ANN],
  ];
  return { api, id, callers };
}

const read = async ({ baseUrl }: Pick<JobsApi, 'baseUrl'>, path: string, headers: Headers) =>
  (await (await fetch(baseUrl + path, { headers })).json()) as unknown;

await onEachStore(t, {
  async 'of a push job: list, history, the job, its events'(t, store) {
    const { api, id, callers } = await makeScene(t, store);
    const jobs = '/push-api/v3/acme/notifications';
    await store.sql`update notifications set state = 'FINISHED', finished_at = now() where id = ${id}::uuid`;
    for (const [who, headers, userName] of callers) {
      t.match(await read(api, jobs, headers), [{ id, userName }], who);
      t.match(await read(api, `${jobs}/${id}`, headers), { id, userName }, who);
      const history = await read(api, '/push-admin-api/history/get/acme', headers);
      t.match(history, [{ id, userName }], who);
    }
    // At once: a listener among others learns no more than alone.
    const streams = callers.map(async ([who, headers, userName]) => {
      const answer = await fetch(`${api.baseUrl}${jobs}/${id}/events`, { headers });
      const event = EVENT.exec(await answer.text())?.[1] ?? '{}';
      t.match(JSON.parse(event), { id, userName }, who);
    });
    await Promise.all(streams);
  },

  async 'of a bulk operation'(t, store) {
    const { api, callers } = await makeScene(t, store);
    const { clientId, appId, tagId } = api.tenant;
    const id = await insertBulkOperation(store.sql, {
      clientId,
      userName: ANN,
      action: 'subscribe',
      subscribe: [tagId],
      unsubscribe: [],
      memberOf: null,
      listed: { appId, platformId: 3, deviceKeys: [] },
      appIds: null,
      total: 1,
    });
    const { baseUrl } = await startApiOn(t, store, bulkResourceRoutes(store.sql));
    for (const [who, headers, userName] of callers) {
      const path = '/push-admin-api/v3/acme/operations';
      t.match(await read({ baseUrl }, path, headers), [{ id, userName }], who);
      t.match(await read({ baseUrl }, `${path}/${id}`, headers), { id, userName }, who);
    }
  },
});
