/** The values of an attribute: with counts that name no single person, never of personal ones. */

import t from 'tap';
import { attributeRoutes } from '../../../src/attributes/routes/attributes.ts';
import type { Store } from '../../../src/database/store.ts';
import { addTenant } from '../../support/api.ts';
import { declareAttribute } from '../../support/attributes.ts';
import { makeKey } from '../../support/keys.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';
import { openResources } from '../../support/resources.ts';
import { seedDevices } from '../../support/seed.ts';

async function open(t: Lifetime, store: Store) {
  const { sql } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const resources = await openResources(t, store, 'acme', attributeRoutes(store));
  const { clientId, appId } = resources.tenant;
  const give = async (attributeId: number, value: string, devices: number) => {
    const [row] = await sql<{ id: number }[]>`
      insert into attribute_values (client_id, attribute_id, value, last_set_at)
      values (${clientId}, ${attributeId}, ${value}, to_timestamp(1000)) returning id`;
    if (devices === 0) return;
    const deviceIds = Array.from({ length: devices }, (_, n) => `${value}-${n}`);
    await seedDevices(sql, { appId, platformId: 3, tagIds: [], count: devices, deviceIds });
    await sql`
      update devices set facet_ids = array[${row?.id ?? 0}::integer]
      where device_id = any (${deviceIds}::text[])`;
  };
  /** Asks again while the devices are counted: a busy machine takes longer than a caller waits. */
  const ask: typeof resources.ask = (...asked) =>
    until('the devices are counted', async () => {
      const answer = await resources.ask(...asked);
      return answer.status === 503 ? null : answer;
    });
  return { ...resources, ask, give };
}

await onEachStore(t, {
  'values with their counts, by their letters, in pages': async (t, store) => {
    const { ask, walk, give } = await open(t, store);
    for (const [value, devices] of [
      ['fr', 5],
      ['de-CH', 6],
      ['de', 4],
      ['it', 0],
    ] as const) {
      await give(-1, value, devices);
    }
    await store.sql`update attribute_values set retired_at = now() where value = 'it'`;
    const lastSetAt = 1_000_000;
    const all = [
      { value: 'de', devices: '<5', lastSetAt },
      { value: 'de-CH', devices: 6, lastSetAt },
      { value: 'fr', devices: 5, lastSetAt },
    ];
    t.same((await ask('GET', 'attributes/language/values')).body, all);
    t.same(await walk('attributes/language/values', 1), all);
    t.same((await ask('GET', 'attributes/language/values?q=CH')).body, [all[1]]);
    t.same((await ask('GET', 'attributes/country/values')).body, []);
    t.equal((await ask('GET', 'attributes/nobody/values')).status, 404);
    t.equal((await ask('GET', 'attributes/platform/values')).status, 404, 'it has none');
    t.equal((await ask('GET', 'attributes/language/values?limit=0')).status, 400);
  },

  'those of a personal attribute are shown to nobody': async (t, store) => {
    const { ask, tenant, give } = await open(t, store);
    const attribute = { name: 'plan', type: 'text' };
    const id = await declareAttribute(store.sql, tenant.clientId, attribute);
    await give(id, 'gold', 5);
    t.match((await ask('GET', 'attributes/plan/values')).body, [{ value: 'gold', devices: 5 }]);
    await ask('PATCH', 'attributes/plan', { personal: true });
    const refused = await ask('GET', 'attributes/plan/values');
    t.equal(refused.status, 403);
    t.notMatch(JSON.stringify(refused.body), /gold/);
  },

  'numbers and times are in no list': async (t, store) => {
    const { ask } = await open(t, store);
    for (const type of ['integer', 'time']) {
      await ask('POST', 'attributes', { name: type, type });
      const { status, body } = await ask('GET', `attributes/${type}/values`);
      t.equal(status, 409);
      t.match(body.detail, /in no list/);
    }
  },

  'of each client its own, and not for keys with limits': async (t, store) => {
    const { ask, tenant, give } = await open(t, store);
    const { sql } = store;
    await give(-1, 'de', 5);
    const other = await addTenant(sql, 'other');
    await sql`
      insert into attribute_values (client_id, attribute_id, value) values (${other.clientId}, -1, 'rm')`;
    t.match((await ask('GET', 'attributes/language/values')).body, [{ value: 'de' }]);
    const status = async (rights: Parameters<typeof makeKey>[2]) => {
      const token = await makeKey(sql, tenant, rights);
      return (await ask('GET', 'attributes/language/values', undefined, token)).status;
    };
    t.equal(await status({ scopes: ['read'] }), 200);
    t.equal(await status({ scopes: ['send'] }), 403);
    t.equal(await status({ scopes: ['read'], appIds: [tenant.appId] }), 403);
  },
});
