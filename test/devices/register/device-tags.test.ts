import t from 'tap';
import { deviceRef } from '../../../src/devices/operation.ts';
import { DeviceTags } from '../../../src/devices/register/device-tags.ts';
import { makeAppApi } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'many at once are answered each their own, by few queries': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tags = await tenant.makeTags(5);
    const api = makeAppApi(store);
    // Devices with 0 to 5 tags.
    await Promise.all(
      Array.from({ length: 60 }, (_, number) =>
        api.call('reg', tenant.caller, {
          appId: tenant.appId,
          platformId: 15,
          deviceId: `device-${number}`,
          tagId: tags.slice(0, number % 6),
        }),
      ),
    );
    let queries = 0;
    const counted = new Proxy(store.sql, {
      apply: (target, self, args) => {
        // A piece of a statement is a call, too.
        if (/^\s*select/.test(args[0][0])) queries += 1;
        return Reflect.apply(target, self, args);
      },
    });
    const deviceTags = new DeviceTags(counted);
    const ask = (deviceId: string) => deviceTags.of(deviceRef(tenant.appId, 15, deviceId));
    const answers = await Promise.all([
      ...Array.from({ length: 600 }, (_, number) => ask(`device-${number % 60}`)),
      ask('nobody'),
    ]);
    for (const [number, answer] of answers.slice(0, 600).entries()) {
      const expected = tags.slice(0, (number % 60) % 6);
      if (answer.map(({ id }) => id).join() !== expected.join()) t.fail(`device-${number % 60}`);
    }
    t.same(answers.at(-1), []);
    t.equal(queries, 2, '500 in a query');
  },

  'a store that fails fails who asked, and nobody after': async (t, store) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const deviceTags = new DeviceTags(store.sql);
    const device = deviceRef(tenant.appId, 15, 'x');
    await store.sql`alter table devices rename to devices_gone`;
    await t.rejects(Promise.all([deviceTags.of(device), deviceTags.of(device)]));
    await store.sql`alter table devices_gone rename to devices`;
    t.same(await deviceTags.of(device), []);
  },
});
