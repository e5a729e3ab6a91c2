/**
 * A tag is disconnected from an app with many devices: an engine takes it off them, which can be
 * watched, while it sends to the same devices.
 */

import t from 'tap';
import { insertApp } from '../../src/catalogue/sql/insert-app.ts';
import { raiseCatalogueVersion } from '../../src/clients/lock-client.ts';
import { connect } from '../../src/database/sql.ts';
import { finalStatus, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import { startEngine } from '../support/processes.ts';
import { seedDevices } from '../support/seed.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** More than the 20,000 that one run clears: the next one, ten seconds later, does the rest. */
const DEVICES = 22_000;
const PATIENCE_MS = 180_000;

t.setTimeout(300_000);

t.test('sends go on while a tag is taken off their devices', async (t) => {
  await withPostgres(t, async (t, url) => {
    const engine = await startEngine(t, temporaryDirectory(t), {
      DATABASE_URL: url,
      SECRET_KEY: 'a secret of this test, long enough',
      DEMO: '1',
    });
    const demo = engine.demo();
    const { appId, baseUrl } = demo;
    const [staying = 0, leaving = 0] = demo.tagIds;
    const sql = connect({ kind: 'postgres', url }, 1);
    t.teardown(() => sql.end());
    const [app] = await sql<{ clientId: number }[]>`
      select client_id as "clientId" from apps where id = ${appId}`;
    const clientId = app?.clientId ?? 0;
    const otherApp = await insertApp(sql, { clientId, name: 'Other', platformIds: [3] });
    await raiseCatalogueVersion(sql, clientId);
    const tagIds = [staying, leaving];
    await seedDevices(sql, { appId, platformId: 3, tagIds, count: DEVICES });

    const root = `${baseUrl}/push-admin-api/v3/demo`;
    const headers = { Authorization: `Bearer ${demo.superUser.token}` };
    const patched = await fetch(`${root}/tags/${leaving}`, {
      method: 'PATCH',
      headers,
      body: JSON.stringify({ appIds: [otherApp] }),
    });
    t.equal(patched.status, 200);

    const seen: number[] = [];
    const watched = until(
      'no device has it any more',
      async () => {
        const answer = await fetch(`${root}/removals`, { headers });
        const [removal] = (await answer.json()) as readonly { readonly devices: number }[];
        seen.push(removal?.devices ?? 0);
        return removal === undefined ? true : null;
      },
      PATIENCE_MS,
    );
    let isOver = false;
    const over = watched.finally(() => {
      isOver = true;
    });
    let pushes = 0;
    while (!isOver) {
      const job = await push(baseUrl, demo, [staying]);
      const rows = await finalStatus(baseUrl, demo, job);
      const row = rows.find((one) => one.appId === appId && one.key.platformId === 3);
      t.match(row, { state: 'FINISHED', totalCount: DEVICES, successCount: DEVICES });
      pushes += 1;
    }
    await over;
    t.ok(pushes > 0, `${pushes} sends`);
    // A run may have begun before the first look.
    t.ok((seen[0] ?? 0) > 0, `${seen[0]} devices at first`);
    t.ok(
      seen.some((devices) => devices > 0 && devices < DEVICES),
      'it was seen under way',
    );
    t.same(
      seen,
      [...seen].sort((one, other) => other - one),
      'ever fewer',
    );
    const [left] = await sql`
      select count(*) filter (where ${staying}::int = any (tag_ids)) as staying,
        count(*) filter (where ${leaving}::int = any (tag_ids)) as leaving
      from devices`;
    t.same(left, { staying: DEVICES, leaving: 0 });
  });
});
