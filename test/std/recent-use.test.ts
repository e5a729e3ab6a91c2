/** Who has used how much lately. */

import t from 'tap';
import { RecentUse } from '../../src/std/recent-use.ts';

t.test('what was used is half as much after a while, and adds up', (t) => {
  const use = new RecentUse({ halfLifeMs: 1_000, usersMax: 10 });
  t.equal(use.of(1, 0), 0);
  use.add(1, 100, 0);
  t.equal(use.of(1, 1_000), 50);
  use.add(1, 100, 1_000);
  t.equal(use.of(1, 2_000), 75);
  t.end();
});

t.test('the one that has used least; of equals the first', (t) => {
  const use = new RecentUse({ halfLifeMs: 1_000, usersMax: 10 });
  use.add(1, 100, 0);
  use.add(2, 10, 0);
  t.equal(use.least([1, 2], 0), 2);
  t.equal(use.least([1, 3, 4], 0), 3);
  t.equal(use.least([], 0), null);
  t.end();
});

t.test('it is bounded: who used something longest ago is forgotten', (t) => {
  const use = new RecentUse({ halfLifeMs: 1_000, usersMax: 2 });
  for (const user of [1, 2, 3]) use.add(user, 100, 0);
  t.same(
    [1, 2, 3].map((user) => use.of(user, 0)),
    [0, 100, 100],
  );
  t.end();
});
