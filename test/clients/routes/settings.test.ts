/** The settings of a client: its callers read them, its super user changes them. */

import t from 'tap';
import { makeAdminRoutes } from '../../support/admin-routes.ts';
import { addTenant, bearer, startApiOn } from '../../support/api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

await onEachStore(t, {
  async 'the default, a change, and one entry for it'(t, store) {
    const tenant = await addTenant(store.sql, 'set');
    const { baseUrl } = await startApiOn(t, store, makeAdminRoutes(store));
    const ask = async (method: string, body?: object) => {
      const answer = await fetch(`${baseUrl}/push-admin-api/v3/set/settings`, {
        method,
        headers: { Authorization: bearer(tenant.superUser) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    };
    const defaults = { confirmAboveDevices: 10_000, undoSeconds: 10 };
    t.strictSame(await ask('GET'), { status: 200, body: defaults });
    const changed = { status: 200, body: { ...defaults, confirmAboveDevices: 0 } };
    t.strictSame(await ask('PATCH', changed.body), changed);
    t.strictSame(await ask('PATCH', changed.body), changed);
    t.strictSame(await ask('PATCH', {}), changed);
    t.strictSame(await ask('GET'), changed);
    for (const confirmAboveDevices of [-1, 1.5, 2_147_483_648, '10']) {
      t.match(await ask('PATCH', { confirmAboveDevices }), {
        status: 400,
        body: { errors: [{ path: 'confirmAboveDevices', message: 'must be 0–2147483647' }] },
      });
    }
    for (const undoSeconds of [-1, 61, 1.5, '10']) {
      t.match(await ask('PATCH', { undoSeconds }), {
        status: 400,
        body: { errors: [{ path: 'undoSeconds', message: 'must be 0–60' }] },
      });
    }
    t.equal((await ask('PATCH', { confirmAbove: 1 })).status, 400);
    const entries = await store.sql<{ action: string; detail: object }[]>`
      select action, detail from audit_entries where client_id = ${tenant.clientId}`;
    t.strictSame(
      [...entries],
      [{ action: 'client.settings', detail: { fields: ['confirmAboveDevices'] } }],
    );
    await ask('PATCH', { undoSeconds: 0 });
    t.match(await ask('GET'), { body: { confirmAboveDevices: 0, undoSeconds: 0 } });
  },
});
