/** `tagcast store move` of an embedded database to PostgreSQL with fsync on, and back. */

import { connect } from '../../src/database/sql.ts';
import { openEmbedded } from '../../src/database/store.ts';
import { databaseOn } from '../../test/support/database-on.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { makeTag, makeTenant } from '../../test/support/notifications.ts';
import { runCommand } from '../../test/support/processes.ts';
import { seedDevices } from '../../test/support/seed.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Row, Scenario } from '../scenario.ts';
import { benchStores } from '../stores.ts';

const DEVICES = [100_000, 1_000_000];
const TAGS = 3;
/** Devices that are made in one transaction. */
const SEED = 50_000;
const SECRET_KEY = 'a secret for the bench only, long enough';

export const moving: Scenario = {
  summary: `devices with ${TAGS} tags each, from the embedded database to PostgreSQL, fsync on, and back; the start of the command included`,
  async run(stage) {
    const rows: Row[] = [];
    const postgres = (await benchStores(stage)).find(({ url }) => url !== undefined);
    if (postgres?.url === undefined) return { rows };
    for (const devices of DEVICES) {
      const dataDir = temporaryDirectory(stage);
      await fill(dataDir, devices);
      const url = await createDatabase(postgres.url, `move_${devices}`);
      const there = await measure(stage, url, { DATA_DIR: dataDir }, devices);
      rows.push({ what: 'to PostgreSQL', ...there });
      const copy = temporaryDirectory(stage);
      const back = await measure(stage, copy, { DATABASE_URL: url, SECRET_KEY }, devices);
      rows.push({ what: 'to a directory', ...back });
    }
    return { rows };
  },
};

async function fill(dataDir: string, devices: number): Promise<void> {
  const store = await openEmbedded(dataDir, { fsync: true });
  try {
    const { clientId, appId, tagId } = await makeTenant(store.sql, 'bench');
    const tagIds = [tagId];
    while (tagIds.length < TAGS) tagIds.push(await makeTag(store.sql, clientId, {}));
    for (let made = 0; made < devices; made += SEED) {
      await seedDevices(store.sql, { appId, platformId: 3, tagIds, count: SEED });
    }
  } finally {
    await store.close();
  }
}

async function createDatabase(server: string, name: string): Promise<string> {
  const sql = connect({ kind: 'postgres', url: server }, 1);
  await sql.unsafe(`create database ${name}`);
  await sql.end();
  return databaseOn(server, name);
}

async function measure(
  stage: Lifetime,
  to: string,
  environment: Readonly<Record<string, string>>,
  devices: number,
): Promise<Row> {
  const startMs = performance.now();
  const { code, output } = await runCommand(stage, ['store', 'move', '--to', to], environment);
  if (code !== 0) throw new Error(output);
  const seconds = (performance.now() - startMs) / 1_000;
  return { devices, seconds: Number(seconds.toFixed(1)), perSecond: Math.round(devices / seconds) };
}
