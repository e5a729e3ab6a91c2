/**
 * An app with many devices is deleted over HTTP: its API user is refused, and the engine erases its
 * devices, which can be watched, while it sends to another app; killed in the middle, it goes on.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { connect } from '../../src/database/sql.ts';
import { finalStatus, post, push } from '../support/client.ts';
import { until } from '../support/poll.ts';
import type { EngineProcess } from '../support/processes.ts';
import { startEngine } from '../support/processes.ts';
import { seedDevices } from '../support/seed.ts';
import { withPostgres } from '../support/store.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** More than the 20,000 that one run erases: the next one, ten seconds later, goes on. */
const DEVICES = 25_000;
const PATIENCE_MS = 180_000;
/** A second, and what a busy machine takes. */
const REFUSED_MS_MAX = 15_000;
/** The erasure lasts for ten seconds: pushes go all along, and leave it time to run. */
const BETWEEN_PUSHES_MS = 250;

interface Removal {
  readonly appId: number;
  readonly devices: number;
}

t.setTimeout(300_000);

t.test('sends go on while an app is erased', async (t) => {
  await withPostgres(t, async (t, url) => {
    const environment = {
      DATABASE_URL: url,
      SECRET_KEY: 'a secret of this test, long enough',
      DEMO: '1',
    };
    const dataDir = temporaryDirectory(t);
    let engine: EngineProcess = await startEngine(t, dataDir, environment);
    const { appId, tagIds, superUser } = engine.demo();
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(`${engine.baseUrl}/push-admin-api/v3/demo/${path}`, {
        method,
        headers: { Authorization: `Bearer ${superUser.token}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
    };
    const doomed = (await ask('POST', 'apps', { name: 'Doomed', platformIds: [3] })).body;
    const sql = connect({ kind: 'postgres', url }, 1);
    t.teardown(() => sql.end());
    await seedDevices(sql, { appId: doomed.id, platformId: 3, tagIds, count: DEVICES });
    await seedDevices(sql, { appId, platformId: 3, tagIds, count: 100 });
    const [tagId = 0] = tagIds;
    /** A push to all apps, and the row of each. */
    const pushed = async () => {
      const demo = engine.demo();
      const job = await push(engine.baseUrl, demo, [tagId]);
      const rows = await finalStatus(engine.baseUrl, demo, job);
      const rowOf = (id: number) =>
        rows.find((row) => row.appId === id && row.key.platformId === 3);
      return { own: rowOf(appId), doomed: rowOf(doomed.id) };
    };
    t.match(await pushed(), {
      own: { state: 'FINISHED', totalCount: 100, successCount: 100 },
      // It has no credential.
      doomed: { totalCount: DEVICES, failedCount: DEVICES },
    });

    const list = { appId: doomed.id, platformId: 3, deviceId: 'x' };
    const listed = async () =>
      (await post(`${engine.baseUrl}/push-api/list`, doomed.apiUser.token, list)).status;
    t.equal(await listed(), 200);
    t.equal((await ask('DELETE', `apps/${doomed.id}`)).status, 204);
    t.equal((await ask('GET', `apps/${doomed.id}`)).status, 404);
    await until(
      'its API user is refused',
      async () => ((await listed()) === 401 ? true : null),
      REFUSED_MS_MAX,
    );

    const seen: number[] = [];
    const left = async (): Promise<number> => {
      const removals = (await ask('GET', 'removals')).body as readonly Removal[];
      const devices = removals.find((removal) => removal.appId === doomed.id)?.devices;
      if (devices === undefined) throw new Error('it is no longer listed');
      seen.push(devices);
      return devices;
    };
    // A run of the erasure may have begun.
    const first = await left();
    t.ok(first > 0 && first <= DEVICES, `${first} devices are listed`);
    let pushes = 0;
    let isKilled = false;
    const endMs = performance.now() + PATIENCE_MS;
    for (let devices = DEVICES; devices > 0; devices = await left()) {
      if (performance.now() > endMs) throw new Error(`${devices} devices are still there`);
      if (devices < DEVICES && !isKilled) {
        isKilled = true;
        t.equal(await engine.end('SIGKILL'), 'SIGKILL');
        engine = await startEngine(t, dataDir, environment);
      }
      const { own, doomed: gone } = await pushed();
      t.match(own, { state: 'FINISHED', totalCount: 100, successCount: 100 });
      t.equal(gone, undefined);
      pushes += 1;
      await sleep(BETWEEN_PUSHES_MS);
    }
    t.ok(isKilled && pushes > 1, `${pushes} pushes, killed once`);
    t.same(
      seen,
      [...seen].sort((one, other) => other - one),
      'ever fewer',
    );
    const [rows] = await sql`
      select (select count(*) from devices where app_id = ${doomed.id}) as doomed,
        (select count(*) from devices where app_id = ${appId}) as own`;
    t.match(rows, { doomed: 0 });
    t.equal(await engine.end('SIGTERM'), 0);
  });
});
