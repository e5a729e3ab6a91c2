/**
 * A power cut at any moment: what the engine has answered is there when it starts again. An engine
 * is recorded, and its recording played on a disk whose power is cut.
 */

import t from 'tap';
import { Random } from '../../support/http2/played/random.ts';
import { findLost, momentsOf } from '../../support/power-cut/find-lost.ts';
import { recordService } from '../../support/power-cut/record-service.ts';
import { seedEmbedded } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const ROUNDS = 3;
/** durable-files.long.ts tries more. */
const CUTS = 4;

t.test('nothing that was answered is lost', async (t) => {
  const [base, dataDir] = [temporaryDirectory(t), temporaryDirectory(t)];
  seedEmbedded(base);
  seedEmbedded(dataDir);
  const service = await recordService(t, dataDir, { fsync: true, rounds: ROUNDS });
  const seed = Date.now() & 0xffff;
  const random = new Random(seed);
  const moments = momentsOf(service);
  const chosen = Array.from({ length: CUTS }, () => random.pick(moments)).sort((a, b) => a - b);
  const last = moments.at(-1) ?? 0;
  const atTheEnd = { at: last, random: null };
  const cuts = [...chosen.map((at) => ({ at, random })), atTheEnd];
  for (const [n, lost] of (await findLost(t, service, base, cuts)).entries()) {
    t.same(lost, [], `cut ${n} at ${cuts[n]?.at} of ${last}, seed ${seed}`);
  }

  for (const unsynced of ['folders', 'everything'] as const) {
    const [lost = []] = await findLost(t, service, base, [atTheEnd], unsynced);
    t.ok(lost.length > 0, `${lost.length} are lost of an engine that syncs all but ${unsynced}`);
  }
});
