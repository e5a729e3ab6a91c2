/** Counts of values: the devices are walked once in an hour, in pieces, and never twice at once. */

import t from 'tap';
import { ValueCounts } from '../../src/attributes/value-counts.ts';
import type { PatientReads } from '../../src/database/patient-reads.ts';
import type { Store } from '../../src/database/store.ts';
import { GROUP_DEVICES } from '../../src/domain/device.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { seedDevices } from '../support/seed.ts';
import { makeTenant } from '../support/tenant.ts';

const HALF_HOUR_MS = 1_800_000;

async function openScene({ sql, patientReads }: Store) {
  const { clientId, appId } = await makeTenant(sql, 'acme');
  // Each in a group of its own.
  await seedDevices(sql, { appId, platformId: 3, tagIds: [], count: 3, step: GROUP_DEVICES });
  await sql`update devices set facet_ids = '{7}' where app_id = ${appId}`;
  await sql`update devices set facet_ids = '{7,9}' where app_id = ${appId} and ordinal = ${GROUP_DEVICES}`;
  const scene = { nowMs: 0, reads: 0, isBusy: false };
  const counting: Pick<PatientReads, 'run'> = {
    run: async (of, work) => {
      scene.reads += 1;
      return scene.isBusy ? { kind: 'busy' } : await patientReads.run(of, work);
    },
  };
  const valueCounts = new ValueCounts({
    patientReads: counting as PatientReads,
    monotonicMs: () => scene.nowMs,
    groupsPerRead: 1,
    // A busy machine may take longer for a walk than a caller waits.
    waitMs: 60_000,
  });
  const counts = async () => {
    const found = await valueCounts.of(clientId);
    return found && Object.fromEntries(found);
  };
  return { scene, counts, sql, appId };
}

await onEachStore(t, {
  'all groups are counted, once for all who ask': async (t, store) => {
    const { scene, counts } = await openScene(store);
    const [one, other] = await Promise.all([counts(), counts()]);
    t.same(one, { 7: 3, 9: 1 });
    t.same(other, one);
    t.equal(scene.reads, 4, 'three groups, and no more');
    scene.nowMs = HALF_HOUR_MS - 1;
    await counts();
    t.equal(scene.reads, 4, 'remembered');
  },

  'they are never older than an hour': async (t, store) => {
    const { scene, counts, sql, appId } = await openScene(store);
    await counts();
    await sql`update devices set facet_ids = '{9}' where app_id = ${appId}`;
    scene.nowMs = HALF_HOUR_MS;
    scene.isBusy = true;
    t.same(await counts(), { 7: 3, 9: 1 }, 'while they are counted again');
    scene.nowMs = 2 * HALF_HOUR_MS;
    t.equal(await counts(), null, 'too old');
    scene.isBusy = false;
    t.same(await counts(), { 9: 3 });
  },

  'what was stopped goes on where it was': async (t, store) => {
    const { scene, counts } = await openScene(store);
    scene.isBusy = true;
    t.equal(await counts(), null);
    scene.isBusy = false;
    t.same(await counts(), { 7: 3, 9: 1 }, 'no device is counted twice');
  },
});
