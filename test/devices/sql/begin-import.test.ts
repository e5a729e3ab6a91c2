import t from 'tap';
import { deviceRef } from '../../../src/devices/operation.ts';
import { beginImport } from '../../../src/devices/sql/begin-import.ts';
import { lockImported } from '../../../src/devices/sql/import-devices.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { makeRegistration } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'what an app repeats after an import began is seen by it': async (t, store) => {
    const { sql } = store;
    const tenant = await makeTenant(sql, 'acme');
    const [a = 0] = await tenant.makeTags(1);
    const registration = makeRegistration(store);
    const device = deviceRef(tenant.appId, 3, 'AB'.repeat(32));
    const register = () =>
      registration.submit({ kind: 'reg', device, tagIds: [a], attributes: NO_ATTRIBUTES });
    const seen = async (sinceMs: number): Promise<boolean | undefined> =>
      (await sql.begin((tx) => lockImported(tx, [{ ...device, sinceMs, registeredAtMs: 0 }])))[0]
        ?.hasRegistered;
    await register();
    const startedAtMs = await beginImport(sql, tenant.appId);
    t.equal(await seen(startedAtMs), false);
    await register();
    t.equal(await seen(startedAtMs), true);
  },
});
