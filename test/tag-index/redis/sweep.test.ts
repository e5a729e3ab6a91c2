import type { Test } from 'tap';
import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { readLineage } from '../../../src/tag-index/groups/lineage.ts';
import { Sweep } from '../../../src/tag-index/redis/sweep.ts';
import { silent } from '../../support/app-api.ts';
import { until } from '../../support/poll.ts';
import type { NodeIndex } from '../../support/redis-index.ts';
import { indexDifferences, openNodeIndex, staleGroups } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgresStore } from '../../support/store.ts';
import { makeTenant } from '../../support/tenant.ts';

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, { sql }) => {
    const redis = await startRedis(t);
    const { appId, makeTag } = await makeTenant(sql, 'acme');
    await seedDevices(sql, { appId, platformId: 15, tagIds: [await makeTag()], count: 9_000 });
    const node = await openNodeIndex(t, sql, { kind: 'single', url: redis.url });
    const sweep = new Sweep({ ...node, sql, log: silent });

    await t.test('it finds what is missing, and has it repaired', async (t) => {
      await sweep.run();
      await isRepaired(t, sql, node);
    });

    await t.test('what is a change ahead of the list is not ahead of the database', async (t) => {
      const { name } = await readLineage(sql);
      await sql`update device_groups set version = version + 1`;
      await sweep.run();
      await sweep.run();
      await isRepaired(t, sql, node);
      t.equal((await readLineage(sql)).name, name);
    });

    await t.test('a database that went back leaves the index that knows more', async (t) => {
      const { name } = await readLineage(sql);
      await sql`update device_groups set version = version - 1`;
      await sweep.run();
      const left = await readLineage(sql);
      t.not(left.name, name);
      t.equal(node.name.current, left.name, 'at once');
      const [lowest] = await sql<{ version: number }[]>`
        select min(version) as version from device_groups`;
      t.ok((lowest?.version ?? 0) > 1e9, 'all versions are new');
      await sweep.run();
      await isRepaired(t, sql, node);
    });

    await t.test('another node sweeps while this one holds the lease: it looks once', async (t) => {
      const { name } = await readLineage(sql);
      const late = new Sweep({ ...node, sql, log: silent });
      await sql`update device_groups set version = version - 1`;
      await late.run();
      t.not((await readLineage(sql)).name, name, 'what was restored before it started is noticed');
    });
  }),
);

async function isRepaired(t: Test, sql: SqlPool, { client, name }: NodeIndex): Promise<void> {
  await until('it is repaired', async () =>
    (await staleGroups(sql, client, name.current)).length === 0 ? true : null,
  );
  t.strictSame(await indexDifferences(sql, client, name.current), []);
}
