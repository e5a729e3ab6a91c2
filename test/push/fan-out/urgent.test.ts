import t from 'tap';
import { DEFAULT_PUSH_OPTIONS } from '../../../src/domain/push-options.ts';
import { readStatus } from '../../../src/push/sql/notifications/read-status.ts';
import { finalRows, pushTo, seed, submit } from '../../support/fan-out-pushes.ts';
import { makeTag, makeTenant } from '../../support/notifications.ts';
import { until } from '../../support/poll.ts';
import { fanOutFor } from '../../support/sending.ts';
import { behave, freshSimulator } from '../../support/simulator.ts';
import { withStores } from '../../support/store.ts';

const simulator = await freshSimulator();

await withStores(t, async (t, store) => {
  await t.test('an urgent send overtakes a running one, which keeps its fifth', async (t) => {
    await behave(simulator, { latencyMs: 100, maxConcurrentStreams: 10 });
    const fanOut = await fanOutFor(t, store, simulator);
    const tenant = await makeTenant(store.sql, 'overtaken');
    const hurried = {
      ...tenant,
      tagId: await makeTag(store.sql, tenant.clientId, { sourceId: 'urgent' }),
    };
    await seed(store, tenant, { 3: 40_000 });
    await seed(store, hurried, { 3: 10_000 });
    const id = await submit(fanOut, tenant);
    const delivered = async () =>
      (await readStatus(store.sql, tenant.clientId, id))?.[0]?.delivered ?? 0;
    await until('it is well under way', async () => ((await delivered()) > 3_000 ? true : null));
    const before = await delivered();
    const urgentId = await submit(
      fanOut,
      hurried,
      pushTo(hurried, { options: { ...DEFAULT_PUSH_OPTIONS, isUrgent: true } }),
    );
    const rows = await finalRows(store, hurried, urgentId);
    const meanwhile = (await delivered()) - before;
    t.match(
      rows.filter(({ total }) => total > 0),
      [{ delivered: 10_000 }],
    );
    t.ok(meanwhile < 10_000, `${meanwhile} of the other one meanwhile: it was overtaken`);
    t.ok(meanwhile > 1_000, `${meanwhile} of the other one meanwhile: it was not stopped`);
    const [other] = (await finalRows(store, tenant, id)).filter(({ total }) => total > 0);
    t.match(other, { delivered: 40_000 });
    await fanOut.drain();
  });
});
