/** More power cuts, of an engine from its first start on, and of one that does not sync. */

import t from 'tap';
import { Random } from '../../support/http2/played/random.ts';
import { findLost, momentsOf } from '../../support/power-cut/find-lost.ts';
import { recordService } from '../../support/power-cut/record-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROUNDS = 12;
const CUTS = 100;

t.setTimeout(580_000);

t.test('from the first start on', async (t) => {
  const [base, dataDir] = [temporaryDirectory(t), temporaryDirectory(t)];
  const service = await recordService(t, dataDir, { fsync: true, rounds: ROUNDS });
  const seed = Date.now() & 0xffff;
  const random = new Random(seed);
  const moments = momentsOf(service);
  const cuts = Array.from({ length: CUTS }, () => random.pick(moments))
    .sort((a, b) => a - b)
    .map((at) => ({ at, random }));
  for (const [n, lost] of (await findLost(t, service, base, cuts)).entries()) {
    t.same(lost, [], `cut ${n} at ${cuts[n]?.at}, seed ${seed}`);
  }
});

t.test('without fsync everything may be lost', async (t) => {
  const [base, dataDir] = [temporaryDirectory(t), temporaryDirectory(t)];
  const service = await recordService(t, dataDir, { fsync: false, rounds: 1 });
  const at = momentsOf(service).at(-1) ?? 0;
  const [lost] = await findLost(t, service, base, [{ at, random: null }]);
  t.equal(lost?.length, service.answered.length);
});
