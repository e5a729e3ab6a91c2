import t from 'tap';
import { connect } from '../../../src/database/sql.ts';
import { Repairs } from '../../../src/tag-index/redis/repairs.ts';
import { silent } from '../../support/app-api.ts';
import { until } from '../../support/poll.ts';
import { openNodeIndex } from '../../support/redis-index.ts';
import { startRedis, withRedis } from '../../support/redis-server.ts';
import { withPostgresStore } from '../../support/store.ts';

await withRedis(t, (t) =>
  withPostgresStore(t, async (t, { sql }) => {
    const redis = await startRedis(t);
    const { client, name, breaker } = await openNodeIndex(t, sql, {
      kind: 'single',
      url: redis.url,
    });
    await t.test('a fault of the database is not laid to the charge of Redis', async (t) => {
      const away = connect({ kind: 'postgres', url: 'postgres://nobody@127.0.0.1:1/none' }, 1);
      t.teardown(() => away.end());
      const repairs = new Repairs({ client, name, breaker, sql: away, log: silent });
      repairs.ask([{ appId: 1, platformId: 3, groupNumber: 0 }]);
      await until('it has been tried', () => (repairs.pending === 0 ? true : null));
      t.notOk(breaker.isOpen);
      t.equal(repairs.repaired, 0);
      t.equal(await redis.client.dbsize(), 0, 'and somebody else may try at once');
    });
  }),
);
