/** Attributes of a list of devices over HTTP: all of it is valid, or nothing is done. */

import t from 'tap';
import { GivenAttributes } from '../../../src/attributes/given-attributes.ts';
import type { Store } from '../../../src/database/store.ts';
import { bulkAttributesRoute } from '../../../src/devices/routes/bulk-attributes.ts';
import { bulkResourceRoutes } from '../../../src/devices/routes/bulk-resources.ts';
import { entryOf } from '../../../src/domain/device-numbers.ts';
import { declareAttribute, valuesOf } from '../../support/attributes.ts';
import { nodeOn, runAll } from '../../support/bulk-operations.ts';
import { makeKey } from '../../support/keys.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { mortal } from '../../support/mortal.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { openResources, pathsOf } from '../../support/resources.ts';
import { seedDevices } from '../../support/seed.ts';

async function open(t: Lifetime, store: Store) {
  const { sql } = store;
  // The schema puts it there, and each test begins with every table empty.
  await sql`insert into access_revision default values on conflict do nothing`;
  const resources = await openResources(t, store, 'acme', [
    bulkAttributesRoute({ sql, attributes: new GivenAttributes({ sql }) }),
    ...bulkResourceRoutes(sql),
  ]);
  const { appId, clientId } = resources.tenant;
  await declareAttribute(sql, clientId, { name: 'plan', type: 'text', setBy: 'server' });
  await declareAttribute(sql, clientId, { name: 'theme', type: 'text', setBy: 'app' });
  return {
    ...resources,
    set: (devices: unknown, token?: string) =>
      resources.ask('POST', `apps/${appId}/platforms/3/attributes`, { devices }, token),
  };
}

await onEachStore(t, {
  'accepted, done, and shown as what it is': async (t, store) => {
    const { sql } = store;
    const { ask, set, tenant } = await open(t, store);
    const deviceIds = ['a', 'b'];
    const { appId } = tenant;
    await seedDevices(sql, { appId, platformId: 3, tagIds: [], count: 2, deviceIds });
    const accepted = await set([
      { deviceId: 'a', attributes: { plan: 'silver', language: 'de_CH' } },
      { deviceId: 'b', attributes: { country: 'ch' } },
      { deviceId: 'a', attributes: { plan: 'gold' } },
      { deviceId: 'nobody', attributes: { plan: null } },
    ]);
    t.equal(accepted.status, 202);
    t.match(accepted.body, { action: 'attributes', appId, platformId: 3, total: 3 });
    t.notOk('tagIds' in accepted.body);
    await runAll(sql, nodeOn(sql));
    const { body } = await ask('GET', `operations/${accepted.body.id}`);
    t.match(body, { state: 'FINISHED', changed: 2, unknown: 1 });
    t.same(Object.values(await valuesOf(sql, 'a')).sort(), ['de-CH', 'gold']);
    t.same(Object.values(await valuesOf(sql, 'b')), ['CH']);
  },

  'numbers and times too, whenever a node dies': async (t, store) => {
    const { sql } = store;
    const { ask, set, tenant } = await open(t, store);
    const { appId, clientId } = tenant;
    const score = await declareAttribute(sql, clientId, { name: 'score', type: 'integer' });
    const paid = await declareAttribute(sql, clientId, { name: 'paid', type: 'time' });
    const deviceIds = ['a', 'b'];
    await seedDevices(sql, { appId, platformId: 3, tagIds: [], count: 2, deviceIds });
    const digits = async () =>
      (await sql`select encode(numbers, 'hex') as digits from devices order by device_id`).map(
        (row) => row['digits'],
      );
    t.equal((await set([{ deviceId: 'a', attributes: { score: 1.5 } }])).status, 400);
    const first = await set([
      { deviceId: 'a', attributes: { score: 1, paid: '2027-01-01', language: 'de' } },
      { deviceId: 'b', attributes: { score: 2 } },
      { deviceId: 'a', attributes: { score: 3 } },
    ]);
    for (let statements = 1; statements < 12; statements += 1) {
      await nodeOn(mortal(sql, statements))
        .runPiece()
        .catch(() => undefined);
      await sql`update bulk_operations set due_at = now()`;
    }
    await runAll(sql, nodeOn(sql));
    t.match((await ask('GET', `operations/${first.body.id}`)).body, { changed: 2 });
    const minute = Date.parse('2027-01-01') / 60_000;
    const both = [entryOf(score, 3), entryOf(paid, minute)].join('');
    t.same(await digits(), [both, entryOf(score, 2)]);
    t.equal((await valuesOf(sql, 'a'))['-1'], 'de');
    const second = await set([
      { deviceId: 'a', attributes: { score: null } },
      { deviceId: 'b', attributes: { score: 2 } },
    ]);
    const third = await set([{ deviceId: 'b', attributes: { paid: 0, language: 'fr' } }]);
    await sql`delete from attributes where id = ${paid}`;
    await runAll(sql, nodeOn(sql));
    t.match((await ask('GET', `operations/${second.body.id}`)).body, { changed: 1, unchanged: 1 });
    t.match((await ask('GET', `operations/${third.body.id}`)).body, { refused: 1 });
    t.same(await digits(), [entryOf(paid, minute), entryOf(score, 2)]);
    await sql`insert into nodes (host, pid, newest_migration) values ('old', 7, '0051-one-index-of-jobs-under-way')`;
    t.equal((await set([{ deviceId: 'b', attributes: { score: 9 } }])).status, 503);
    await sql`update nodes set died_at = now()`;
  },

  'what is not valid is said, and nothing is done': async (t, store) => {
    const { sql } = store;
    const { set, tenant } = await open(t, store);
    const good = { deviceId: 'a', attributes: { plan: 'gold' } };
    for (const [devices, paths] of [
      [[], ['devices']],
      [Array.from({ length: 1_001 }, () => good), ['devices']],
      [[{ deviceId: 'a', attributes: {} }], ['devices.0.attributes']],
      [[{ deviceId: 'a' }], ['devices.0.attributes']],
      [[good, { deviceId: 'b', attributes: { plan: 5 } }], ['devices.1.attributes.plan']],
      [[{ deviceId: 'b', attributes: { lastSeen: 'x' } }], ['devices.0.attributes.lastSeen']],
      [
        [
          good,
          { deviceId: 'b', attributes: { theme: 'x', nope: 'x', plan: 'x', country: 'Swiss' } },
        ],
        ['devices.1.attributes.theme', 'devices.1.attributes.nope', 'devices.1.attributes.country'],
      ],
    ] as const) {
      const answer = await set(devices);
      t.equal(answer.status, 400, paths[0]);
      t.same(pathsOf(answer), paths);
    }
    const [row] = await sql`select count(*)::int as operations from bulk_operations`;
    t.same(row, { operations: 0 });
    const token = await makeKey(sql, tenant, { scopes: ['admin'], tagIds: [1] });
    t.equal((await set([good], token)).status, 403, 'of a key for some tags');
  },

  'no node of the version before starts once one is accepted': async (t, store) => {
    const { sql } = store;
    const { set } = await open(t, store);
    t.equal((await set([{ deviceId: 'a', attributes: { plan: 'gold' } }])).status, 202);
    const [row] = await sql`select needs from migrations where name = '0048-attributes'`;
    t.same(row, { needs: '0048-attributes' });
  },

  'a full queue refuses before new values are made': async (t, store) => {
    const { sql } = store;
    const { set } = await open(t, store);
    const one = [{ deviceId: 'a', attributes: { plan: 'gold' } }];
    for (let open = 0; open < 100; open += 1) await set(one);
    t.equal((await set([{ deviceId: 'a', attributes: { plan: 'new' } }])).status, 429);
    const values = await sql`select value from attribute_values`;
    t.same([...values], [{ value: 'gold' }]);
  },
});
