/** The saved test devices of a client: who sees them, how many there are, and when they go. */

import t from 'tap';
import { insertApp } from '../../../src/catalogue/sql/insert-app.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { eraseDevice } from '../../../src/devices/sql/erase-device.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';

const IOS = 3;
const TOKEN = 'AB'.repeat(32);

await onEachStore(t, {
  async 'saved once, for all who may send; deleted, or erased with the device'(t, store) {
    const api = await startJobsApi(t, store, 'test-devices');
    const { appId, clientId } = api.tenant;
    const path = '/push-api/v3/test-devices/test-devices';
    const phone = { name: 'Phone of Ana', appId, platformId: IOS, deviceId: TOKEN };
    const saved = await api.call('POST', path, phone);
    t.equal(saved.status, 201);
    t.equal(saved.headers.get('cache-control'), 'no-store');
    t.match(saved.body, { ...phone, id: Number, deviceId: TOKEN.toLowerCase(), createdAt: Number });
    const again = await api.call('POST', path, { ...phone, deviceId: TOKEN.toLowerCase() });
    t.match(again, { status: 409, body: { detail: /saved as a test device already/ } });
    t.same((await api.call('GET', path)).body, [saved.body]);
    const { deviceId: _, ...others } = saved.body;
    const sending = await api.key({ scopes: ['send'] });
    t.same((await api.call('GET', path, undefined, sending)).body, [others], 'without its token');
    const administering = await api.key({ scopes: ['send', 'admin'] });
    t.same((await api.call('GET', path, undefined, administering)).body, [saved.body]);

    const key = await api.key({ scopes: ['send'], appIds: [appId] });
    t.equal((await api.call('GET', path, undefined, key)).status, 403, 'a limited key');
    t.equal((await api.call('POST', path, phone, key)).status, 403);
    t.equal((await api.call('DELETE', `${path}/${saved.body.id}`, undefined, key)).status, 403);
    const elsewhere = await api.call('POST', path, { ...phone, platformId: 7 });
    t.match(elsewhere, { status: 404, body: { detail: /no such app on this platform/ } });
    const faulty = await api.call('POST', path, { ...phone, name: '', tag: 1 });
    t.match(faulty.body.errors, [{ path: 'name' }, { path: 'tag' }]);

    t.equal((await api.call('DELETE', `${path}/${saved.body.id}`)).status, 204);
    t.equal((await api.call('DELETE', `${path}/${saved.body.id}`)).status, 404);
    await api.call('POST', path, phone);
    const { events } = await store.sql.begin((tx) => eraseDevice(tx, deviceRef(appId, IOS, TOKEN)));
    t.equal(events, 1, 'nothing of it is left, though it was never registered');
    t.same((await api.call('GET', path)).body, []);
    const other = await insertApp(store.sql, { clientId, name: 'Site', platformIds: [7] });
    await api.call('POST', path, { ...phone, appId: other, platformId: 7, deviceId: 'browser' });
    await store.sql`delete from app_platforms where app_id = ${other}`;
    t.same((await api.call('GET', path)).body, [], 'it goes with its app');
  },

  async 'a client has twenty at most'(t, store) {
    const api = await startJobsApi(t, store, 'twenty');
    const path = '/push-api/v3/twenty/test-devices';
    const { appId } = api.tenant;
    const save = (name: string) =>
      api.call('POST', path, { name, appId, platformId: IOS, deviceId: name });
    for (let number = 1; number <= 20; number += 1) {
      t.equal((await save(`phone ${number}`)).status, 201);
    }
    t.match(await save('one more'), { status: 403, body: { detail: /20 test devices/ } });
    t.equal((await api.call('GET', path)).body.length, 20);
  },
});
