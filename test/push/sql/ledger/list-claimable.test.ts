/** Which parts are small: many of these share a slot, and they are looked for less often. */

import t from 'tap';
import { listClaimable } from '../../../../src/push/sql/ledger/list-claimable.ts';
import { makeRunning, makeTenant } from '../../../support/notifications.ts';
import { withStores } from '../../../support/store.ts';

await withStores(t, async (t, { sql }) => {
  const tenant = await makeTenant(sql, 'looks');
  const lookAt = async (id: string, among: 'all' | 'large') =>
    (await listClaimable(sql, among)).find(({ notificationId }) => notificationId === id) ?? null;

  await t.test('one chunk is small, and left out of a look for the large', async (t) => {
    const id = await makeRunning(sql, tenant, 10);
    t.match(await lookAt(id, 'all'), { isSmall: true, hasChunks: true });
    t.equal(await lookAt(id, 'large'), null);
  });

  await t.test('with many retries it is large: each batch of them fills a slot', async (t) => {
    const id = await makeRunning(sql, tenant, 10);
    const retry = (count: number) => sql`
      with added as (
        insert into retries (notification_id, app_id, platform_id, ordinal, attempts, reason, due_at)
        select notification_id, app_id, platform_id, n, 1, 'Later', now()
        from notification_scopes, generate_series(1, ${count}::integer) as n
        where notification_id = ${id}
        on conflict do nothing
      )
      update notifications set open_retries = ${count} where id = ${id}`;
    await retry(128);
    t.match(await lookAt(id, 'all'), { isSmall: true, hasRetries: true });
    t.equal(await lookAt(id, 'large'), null);
    await retry(129);
    t.match(await lookAt(id, 'all'), { isSmall: false, hasRetries: true });
    t.match(await lookAt(id, 'large'), { isSmall: false, hasRetries: true });
  });
});
