/** A database of each released version becomes one of this version, and its callers go on. */

import type { Test } from 'tap';
import t from 'tap';
import { migrate } from '../../../src/database/migrate.ts';
import type { Sql, SqlPool } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import { readText } from '../../support/documents.ts';
import { startEngine } from '../../support/processes.ts';
import { readCatalogue } from '../../support/read-catalogue.ts';
import type { Release } from '../../support/releases.ts';
import { readReleases } from '../../support/releases.ts';
import { temporaryEmbedded, withPostgres, withStores } from '../../support/store.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const RELEASES = readReleases();
/** The catalogues of new databases, by the store. */
const made = new Map<string, readonly string[]>();

t.test('the database of each released version is stored', (t) => {
  const released = [...readText('CHANGELOG.md').matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(
    ([, version]) => version,
  );
  t.same(
    released.filter((version) => !RELEASES.some((release) => release.version === version)),
    [],
    'npm run release:dump writes one',
  );
  t.ok(RELEASES.length > 0);
  t.end();
});

await withStores(t, async (t, store) => {
  made.set(store.address.kind, await readCatalogue(store.sql));
  t.not(made.get(store.address.kind)?.length, 0, 'a new database has tables');
});

for (const release of RELEASES) {
  await t.test(`the embedded database of ${release.version}`, async (t) => {
    const expected = made.get('embedded');
    if (expected === undefined) return;
    const { sql } = await temporaryEmbedded(t);
    await sql.unsafe('drop schema public cascade; create schema public');
    await becomes(t, sql, release, expected);
  });
  await withPostgres(t, async (t, url) => {
    const sql = connect({ kind: 'postgres', url }, 1);
    await becomes(t, sql, release, made.get('postgres') ?? []);
    await sql.end();
    await goesOn(t, url, release);
  });
}

async function becomes(t: Test, sql: SqlPool, release: Release, expected: readonly string[]) {
  await sql.unsafe(release.sql);
  const before = await countsOf(sql);
  await migrate(sql);
  t.strictSame(await readCatalogue(sql), expected, 'its tables are those of a new database');
  const after = await countsOf(sql);
  for (const [table, rows] of Object.entries(before)) {
    if (table !== 'migrations') t.equal(after[table], rows, `${table} keeps its ${rows} rows`);
  }
  t.ok(Object.values(before).filter((rows) => rows > 0).length > 25, 'many tables have rows');
}

/** The rows of each table. */
async function countsOf(sql: Sql): Promise<Readonly<Record<string, number>>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const [row] = await sql<{ count: string }[]>`select count(*) from ${sql(name)}`;
    counts[name] = Number(row?.count);
  }
  return counts;
}

/** An engine of this version on it: what was handed out then is still good. */
async function goesOn(t: Test, url: string, { callers }: Release): Promise<void> {
  const settings = { DATABASE_URL: url, SECRET_KEY: callers.secretKey, WORKERS: '1' };
  const { baseUrl, output } = await startEngine(t, temporaryDirectory(t), settings);
  t.match(
    output(),
    /"version":"\d+\.\d+\.\d+","commit":.*"msg":"listening"/,
    'it says which it is',
  );
  const ask = async (path: string, token: string, body?: object) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(baseUrl + path, { headers, ...sent });
    t.equal(answer.status, 200, path);
    return await answer.text();
  };
  const { appId, superUserToken, apiUserToken, keyToken, deviceIds, scheduled } = callers;
  const [deviceId] = deviceIds;
  const device = { appId, platformId: 3, deviceId };
  t.match(await ask('/push-api/list', apiUserToken, device), /"id":/, 'an app and its device');
  t.match(await ask('/push-admin-api/v3/demo/tags', superUserToken), /"sourceId":"ski"/);
  t.match(await ask('/push-admin-api/v3/demo/groups', superUserToken), /"sourceId":"winter"/);
  t.match(await ask('/push-admin-api/v3/demo/tags', keyToken), /"sourceId":"ski"/, 'a key');
  const job = await ask(`/push-api/v3/demo/notifications/${scheduled}`, superUserToken);
  t.match(JSON.parse(job), { id: scheduled });
}
