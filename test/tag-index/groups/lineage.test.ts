import t from 'tap';
import { connect } from '../../../src/database/sql.ts';
import { openPostgres } from '../../../src/database/store.ts';
import { keepLineage, leaveIndex, readLineage } from '../../../src/tag-index/groups/lineage.ts';
import { seedDevices } from '../../support/seed.ts';
import { withPostgres } from '../../support/store.ts';
import { makeTenant } from '../../support/tenant.ts';

const RUNNING = { isStarting: false };
const STARTING = { isStarting: true };

await withPostgres(t, async (t, url) => {
  const store = await openPostgres(url);
  const { sql } = store;
  const { appId, makeTag } = await makeTenant(sql, 'acme');
  await seedDevices(sql, { appId, platformId: 15, tagIds: [await makeTag()], count: 10 });
  const versionOf = async (): Promise<number> =>
    (await sql<{ version: number }[]>`select version from device_groups`)[0]?.version ?? 0;

  await t.test('a database that is what it was is left alone', async (t) => {
    t.notOk((await keepLineage(sql, STARTING)).isRenewed);
    t.notOk((await keepLineage(sql, RUNNING)).isRenewed);
    t.equal(await versionOf(), 1);
  });

  await t.test('on another timeline all versions are new, under the same name', async (t) => {
    const { name } = await readLineage(sql);
    await sql`update index_lineage set identity = 'elsewhere'`;
    const { isRenewed, lineage } = await keepLineage(sql, RUNNING);
    t.ok(isRenewed);
    t.equal(lineage.name, name);
    t.ok((await versionOf()) > 1e12);
    t.notOk((await keepLineage(sql, RUNNING)).isRenewed, 'once');
  });

  await t.test('a table that was made anew, as by a restored dump, is another one', async (t) => {
    const { name } = await readLineage(sql);
    await sql.begin(async (tx) => {
      await tx`create table aside as table device_groups`;
      await tx`truncate device_groups`;
      await tx`insert into device_groups select * from aside`;
    });
    const before = await versionOf();
    const { isRenewed, lineage } = await keepLineage(sql, STARTING);
    t.ok(isRenewed);
    t.not(lineage.name, name);
    t.ok((await versionOf()) > before);
  });

  await t.test('whoever leaves an index that somebody has left already, stays', async (t) => {
    const { name } = await readLineage(sql);
    t.ok(await leaveIndex(sql, name));
    const left = await readLineage(sql);
    t.not(left.name, name);
    t.notOk(await leaveIndex(sql, name));
    t.same(await readLineage(sql), left);
  });

  await t.test('a copy beside it, in the same server, is another one', async (t) => {
    const { name } = await readLineage(sql);
    await store.close();
    const copyUrl = new URL(url);
    copyUrl.pathname += '_copy';
    const adminUrl = new URL(url);
    adminUrl.pathname = '/postgres';
    const admin = connect({ kind: 'postgres', url: adminUrl.href }, 1);
    const copy = copyUrl.pathname.slice(1);
    await admin.unsafe(`create database ${copy} template ${new URL(url).pathname.slice(1)}`);
    const ofCopy = connect({ kind: 'postgres', url: copyUrl.href }, 1);
    const { isRenewed, lineage } = await keepLineage(ofCopy, STARTING);
    t.ok(isRenewed);
    t.not(lineage.name, name);
    await ofCopy.end();
    await admin.unsafe(`drop database ${copy} with (force)`);
    await admin.end();
  });
});
