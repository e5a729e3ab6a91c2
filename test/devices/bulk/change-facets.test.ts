/** Attributes of a list of devices: all of a device or none, once, whenever a node dies. */

import t from 'tap';
import { insertBulkOperation } from '../../../src/devices/sql/insert-operation.ts';
import { ATTRIBUTES_ACTION } from '../../../src/domain/bulk-operation.ts';
import { deviceKeyOf } from '../../../src/domain/device.ts';
import { declareAttribute, valuesOf } from '../../support/attributes.ts';
import { nodeOn, openBulkScene, runAll } from '../../support/bulk-operations.ts';
import { mortal } from '../../support/mortal.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedDevices } from '../../support/seed.ts';

await onEachStore(t, {
  'each device gets its own; a deleted attribute refuses the whole device': async (t, { sql }) => {
    const { appId, clientId, read, ...scene } = await openBulkScene({ sql });
    const [tagId = 0] = await scene.makeTags(1);
    const deviceIds = ['a', 'b', 'c'];
    await seedDevices(sql, { appId, platformId: 15, tagIds: [tagId], count: 3, deviceIds });
    const plan = await declareAttribute(sql, clientId, { name: 'plan', type: 'text' });
    const makeValue = async (attributeId: number, value: string) => {
      const [row] = await sql<{ id: number }[]>`
        insert into attribute_values (client_id, attribute_id, value)
        values (${clientId}, ${attributeId}, ${value}) returning id`;
      return row?.id ?? 0;
    };
    const [de, fr, gold] = [
      await makeValue(-1, 'de'),
      await makeValue(-1, 'fr'),
      await makeValue(plan, 'gold'),
    ];
    const set = (
      devices: Readonly<Record<string, readonly (readonly [number, number | null])[]>>,
    ) =>
      insertBulkOperation(sql, {
        clientId,
        userName: 'test',
        action: ATTRIBUTES_ACTION,
        subscribe: [],
        unsubscribe: [],
        memberOf: null,
        listed: { appId, platformId: 15, deviceKeys: Object.keys(devices).map(deviceKeyOf) },
        deviceFacets: Object.values(devices),
        appIds: null,
        total: Object.keys(devices).length,
      });
    const first = await set({
      a: [
        [-1, de],
        [plan, gold],
      ],
      b: [[-1, fr]],
      nobody: [[-1, de]],
    });
    // The node dies before each of its statements, and another one goes on.
    for (let statements = 1; statements < 12; statements += 1) {
      await nodeOn(mortal(sql, statements))
        .runPiece()
        .catch(() => undefined);
      await sql`update bulk_operations set due_at = now()`;
    }
    await runAll(sql, nodeOn(sql));
    t.match(await read(first), { state: 'FINISHED', changed: 2, unknown: 1, unchanged: 0 });
    t.same(await valuesOf(sql, 'a'), { [-1]: 'de', [plan]: 'gold' });
    t.same(await valuesOf(sql, 'b'), { [-1]: 'fr' });

    const second = await set({ a: [[-1, null]], b: [[-1, fr]] });
    const third = await set({
      b: [
        [-1, de],
        [plan, gold],
      ],
    });
    await sql`delete from attributes`;
    await runAll(sql, nodeOn(sql));
    t.match(await read(second), { changed: 1, unchanged: 1 });
    t.match(await read(third), { refused: 1, changed: 0 });
    t.same(await valuesOf(sql, 'a'), { [plan]: 'gold' });
    t.same(await valuesOf(sql, 'b'), { [-1]: 'fr' });
    const [row] = await sql<{ registered: boolean; keys: null }[]>`
      select bool_or(registered_at > now() - interval '1 day') as registered,
        (select count(device_keys) + count(device_facets) from bulk_operations)::int as kept from devices`;
    t.same(row, { registered: false, kept: 0 });
  },
});
