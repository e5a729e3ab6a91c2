import t from 'tap';
import { createMetrics } from '../../src/telemetry/metrics.ts';

t.test('the index in Redis is there only when somebody watches it', async (t) => {
  const metrics = createMetrics();
  t.notMatch(await metrics.text(), 'tagcast_index_');
  let reading = { isReachable: false, groupsWaiting: 3, groupsRepaired: 4 };
  metrics.watchIndex(() => reading);
  const first = await metrics.text();
  t.match(first, /^tagcast_index_reachable 0$/m);
  t.match(first, /^tagcast_index_groups_waiting 3$/m);
  t.match(first, /^tagcast_index_groups_repaired_total 4$/m);
  reading = { isReachable: true, groupsWaiting: 0, groupsRepaired: 7 };
  const second = await metrics.text();
  t.match(second, /^tagcast_index_reachable 1$/m);
  t.match(second, /^tagcast_index_groups_waiting 0$/m);
  t.match(second, /^tagcast_index_groups_repaired_total 7$/m);
});
