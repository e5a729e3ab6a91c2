import t from 'tap';
import type { SqlPool } from '../../../src/database/sql.ts';
import { transact } from '../../../src/database/transact.ts';
import { wasChangedSince } from '../../../src/devices/sql/changed-since.ts';
import { writeBatch } from '../../../src/devices/sql/write-batch.ts';
import { NO_ATTRIBUTES } from '../../../src/domain/device-attributes.ts';
import { onEachStore } from '../../support/on-each-store.ts';
import { makeTenant } from '../../support/tenant.ts';

const insert = (sql: SqlPool, appId: number, ordinal: number, deviceKey: string) =>
  sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
    values (${appId}, 15, ${ordinal}, ${deviceKey.repeat(32)}::uuid, ${deviceKey}, now())`;

/** The statement of docs/operate/scale.md. */
const PARTITION = `
  alter table devices rename to devices_whole;
  create table devices (like devices_whole including defaults including constraints including indexes)
    partition by hash (app_id, platform_id);
  create table devices_0 partition of devices for values with (modulus 2, remainder 0);
  create table devices_1 partition of devices for values with (modulus 2, remainder 1);
  insert into devices select * from devices_whole;
  drop table devices_whole`;

/** Writes the version of its app into the device with ordinal 1, if its row is as it was read. */
const update = (sql: SqlPool, appId: number, version: string, appVersion: string) =>
  transact(sql, (tx) =>
    writeBatch(tx, {
      updated: [
        {
          appId,
          platformId: 15,
          ordinal: 1,
          version,
          registers: true,
          unsubscribes: false,
          attributes: { ...NO_ATTRIBUTES, appVersion },
          tagIds: null,
        },
      ],
      inserted: [],
      changes: [],
      groups: [],
      slot: 0,
    }),
  );

await onEachStore(t, {
  'a device that was made or changed since is told from all that may fail besides': async (
    t,
    { sql },
  ) => {
    const { appId } = await makeTenant(sql, 'acme');
    const failureOf = (ordinal: number, deviceKey: string) =>
      insert(sql, appId, ordinal, deviceKey).then(
        () => null,
        (error: unknown) => error,
      );
    const read = async () =>
      (
        await sql<{ version: string; app: string | null }[]>`
          select xmin as version, app_version as app from devices`
      )[0];
    await insert(sql, appId, 1, 'a');
    for (const table of ['one table', 'partitions']) {
      if (table === 'partitions') await sql.unsafe(PARTITION);
      t.equal(wasChangedSince(await failureOf(2, 'a')), true, `${table}: its key`);
      t.equal(wasChangedSince(await failureOf(1, 'b')), false, `${table}: another one's ordinal`);
      t.equal(wasChangedSince(await failureOf(2, 'x')), false, `${table}: no key`);
      const version = (await read())?.version ?? '';
      await update(sql, appId, version, table);
      const failure = await update(sql, appId, version, 'again').catch((error: unknown) => error);
      t.equal(wasChangedSince(failure), true, `${table}: its row`);
      t.equal((await read())?.app, table);
    }
  },
});
