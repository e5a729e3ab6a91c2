import t from 'tap';
import { listExpectedSends } from '../../../src/push/sql/list-expected.ts';
import { startJobsApi } from '../../support/jobs-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { seedTestedDevices } from '../../support/tested-devices.ts';

await onEachStore(t, {
  async 'a send is expected where its tests are met'(t, store) {
    const { sql } = store;
    const { call, tenant } = await startJobsApi(t, store, 'acme');
    const { clientId, appId } = tenant;
    const values = new Map([['country', 'CH']]);
    await seedTestedDevices(sql, tenant, [
      { platformId: 3, ordinal: 0, tags: new Set(['a']), values },
      { platformId: 3, ordinal: 1, tags: new Set(['a']), values: new Map() },
      { platformId: 3, ordinal: 2, tags: new Set(), values },
    ]);
    const asked = ['a', 'a && @country = CH', 'a && !@country', '*', '* && @plan', 'b || @x'];
    for (const audience of asked) {
      await call('POST', '', { audience, payload: { title: audience } });
    }
    const expectedAt = async (ordinal: number) => {
      const [device] = await sql<{ tagIds: number[] }[]>`
        select tag_ids as "tagIds" from devices where app_id = ${appId} and ordinal = ${ordinal}`;
      const page = { sinceMs: 0, limit: 10, publisher: null, ordinal };
      const scope = { appId, platformId: 3 };
      const sends = await listExpectedSends(sql, clientId, scope, device?.tagIds ?? [], page);
      return sends.map(({ title }) => title).reverse();
    };
    t.strictSame(await expectedAt(0), ['a', 'a && @country = CH', '*']);
    t.strictSame(await expectedAt(1), ['a', 'a && !@country', '*']);
    t.strictSame(await expectedAt(2), []);
  },
});
