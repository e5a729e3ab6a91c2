/** The limit of push jobs that have not ended: how it is counted, on both stores. */

import t from 'tap';
import { OpenJobs } from '../../../src/push/accept/open-jobs.ts';
import { makeNotification, makeTenant } from '../../support/notifications.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { until } from '../../support/poll.ts';

await onEachStore(t, {
  async 'as many as the limit leaves, of this client only'(t, { sql }) {
    const tenant = await makeTenant(sql, 'limited');
    const other = await makeTenant(sql, 'other');
    await makeNotification(sql, other);
    const ended = await makeNotification(sql, tenant);
    await sql`update notifications set state = 'FINISHED', finished_at = now() where id = ${ended}::uuid`;
    const running = await makeNotification(sql, tenant);
    await sql`update notifications set state = 'RUNNING' where id = ${running}::uuid`;
    const limits = { openJobs: 4 };
    const jobs = new OpenJobs(sql);
    t.match(await jobs.take(tenant.clientId, limits, 2), { jobs: 2 });
    t.same(
      await jobs.take(tenant.clientId, { openJobs: 3 }, 2),
      {
        jobs: 2,
        over: { name: 'openJobs', max: 3, current: 1 },
      },
      'what was taken and not written is counted anew',
    );
    t.match(await jobs.take(other.clientId, limits, 9), { jobs: 3 });
  },

  async 'below the limit nobody asks the database'(t, { sql }) {
    const { clientId } = await makeTenant(sql, 'asking');
    const jobs = new OpenJobs(sql);
    await jobs.take(clientId, {}, 1);
    await sql`alter table notifications rename to hidden`;
    t.match(await jobs.take(clientId, {}, 1_000), { jobs: 1_000 });
    await sql`alter table hidden rename to notifications`;
  },

  async 'room comes back when jobs end'(t, { sql }) {
    const tenant = await makeTenant(sql, 'ending');
    const job = await makeNotification(sql, tenant);
    const limits = { openJobs: 1 };
    const jobs = new OpenJobs(sql);
    t.match(await jobs.take(tenant.clientId, limits, 1), { jobs: 0 });
    await sql`update notifications set state = 'FINISHED', finished_at = now() where id = ${job}::uuid`;
    await until('there is room', async () =>
      (await jobs.take(tenant.clientId, limits, 1)).jobs === 1 ? true : null,
    );
  },
});
