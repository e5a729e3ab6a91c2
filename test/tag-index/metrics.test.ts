import t from 'tap';
import { redisMetrics } from '../../src/tag-index/metrics.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';

t.test('the index in Redis is read each time', async (t) => {
  const metrics = new Metrics();
  let reading = { isReachable: false, groupsWaiting: 3, groupsRepaired: 4 };
  metrics.add(redisMetrics(() => reading));
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
