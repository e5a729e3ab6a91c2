import t from 'tap';
import { PLANS_ARE_KEPT } from '../../../src/database/dedicated-connection.ts';
import { deviceRef } from '../../../src/devices/operation.ts';
import { FacetAttributes } from '../../../src/devices/register/facet-attributes.ts';
import { lookAtAll } from '../../../src/devices/register/look.ts';
import { RecentChanges } from '../../../src/devices/register/recent-changes.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { makeRegistration } from '../../support/app-api.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

await onEachStore(t, {
  'a tag that is gone makes the guess wrong, and the next batches are not guessed': async (
    t,
    store,
  ) => {
    const tenant = await makeTenant(store.sql, 'acme');
    const tag = await tenant.makeTag();
    const device = deviceRef(tenant.appId, 3, 'd');
    const registration = makeRegistration(store);
    await registration.submit({ kind: 'reg', device, tagIds: [tag], attributes: NO_ATTRIBUTES });
    await registration.drain();

    const connection = store.openDedicatedConnection(PLANS_ARE_KEPT);
    const recentChanges = new RecentChanges();
    const facetAttributes = new FacetAttributes();
    const limits = { tagsPerDeviceMax: 10, freshMs: 86_400_000 };
    const context = { ...limits, connection, recentChanges, facetAttributes };
    const gainedBy = async (tagIds: readonly number[]) => {
      const operations = [{ kind: 'reg', device, tagIds, attributes: NO_ATTRIBUTES } as const];
      const seen = await lookAtAll(context, [{ device, operations }]);
      return seen[0]?.tags.gained;
    };
    for (let batch = 0; batch < 3; batch += 1) t.same(await gainedBy([tag]), []);
    t.notOk(recentChanges.areLikely);
    t.same(await gainedBy([tag]), []);
    t.notOk(recentChanges.areLikely, 'the guess was right');
    const gone = tag + 1;
    t.same(await gainedBy([tag, gone]), [], 'nobody can subscribe to it');
    t.ok(recentChanges.areLikely, 'the guess was wrong');
  },
});
