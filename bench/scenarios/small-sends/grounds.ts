/** A thousand tags with one device each on a store, and an engine there that sends to nghttpd. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLATFORMS } from '../../../packages/std/src/platforms.ts';
import { databaseSocketPath } from '../../../src/database/embedded/lock.ts';
import type { SqlPool } from '../../../src/database/sql.ts';
import { connect } from '../../../src/database/sql.ts';
import type { EmbeddedOptions } from '../../../src/database/store.ts';
import { openEmbedded } from '../../../src/database/store.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import type { Demo, EngineProcess } from '../../../test/support/processes.ts';
import { startEngine } from '../../../test/support/processes.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { prepareGrounds } from '../../grounds.ts';
import type { Sink } from '../../sinks/sink.ts';
import { originOf } from '../../sinks/sink.ts';

export interface SmallGrounds {
  readonly store: 'postgres' | 'embedded' | 'embedded, no fsync';
  readonly engine: EngineProcess;
  readonly demo: Demo;
  readonly sql: SqlPool;
  readonly clientId: number;
  /** With one device each. */
  readonly tagIds: readonly number[];
  /** Another client, with a tag of its own with one device; null: none was made. */
  readonly other: { readonly token: string; readonly tagIds: readonly number[] } | null;
  /** The first process of PostgreSQL; null: the database is in the engine's. */
  readonly postmaster: number | null;
  /** Whether PostgreSQL counts its statements. */
  readonly countsStatements: boolean;
}

/** On PostgreSQL with the index in Redis; null: one of them is missing. */
export async function onPostgres(stage: Lifetime, sink: Sink): Promise<SmallGrounds | null> {
  let seeded: Seeded | null = null;
  const grounds = await prepareGrounds(
    stage,
    async (sql, demo) => {
      // A log whose segments are there already, as that of a server that has run for a while.
      await sql.unsafe(`alter system set min_wal_size = '1GB'`);
      await sql.unsafe(`alter system set max_wal_size = '4GB'`);
      await sql`select pg_reload_conf()`;
      seeded = await seed(sql, demo, sink.tokens);
    },
    true,
  );
  if (grounds === null || seeded === null) return null;
  const { demo, sql, countsStatements } = grounds;
  const tenant = await grounds.addTenant('other');
  const { tagIds: otherTagIds } = await seed(sql, tenant, sink.tokens.slice(0, 1));
  await grounds.command(['index', 'rebuild']);
  const other = { token: tenant.superUserToken, tagIds: otherTagIds };
  const engine = await grounds.start('redis', environmentOf(stage, sink));
  const [row] = await sql<{ pid: number }[]>`
    select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::integer as pid`;
  const { clientId, tagIds }: Seeded = seeded;
  const postmaster = row?.pid ?? null;
  const made = { engine, demo, sql, clientId, tagIds, other, postmaster, countsStatements };
  return { store: 'postgres', ...made };
}

/** On the embedded store. */
export async function onEmbedded(
  stage: Lifetime,
  sink: Sink,
  { fsync }: EmbeddedOptions,
): Promise<SmallGrounds> {
  const dataDir = temporaryDirectory(stage);
  const durable = { EMBEDDED_FSYNC: fsync ? '1' : '0' };
  const first = await startEngine(stage, dataDir, { WORKERS: '1', ...durable });
  const demo = first.demo();
  await first.end('SIGTERM');
  const opened = await openEmbedded(dataDir, { fsync });
  const seeded = await seed(opened.sql, demo, sink.tokens);
  await opened.sql.unsafe('analyze');
  await opened.close();
  const environment = { WORKERS: '1', ...durable, ...environmentOf(stage, sink) };
  const engine = await startEngine(stage, dataDir, environment);
  const sql = connect({ kind: 'embedded', socketPath: databaseSocketPath(dataDir) }, 1);
  stage.teardown(() => sql.end());
  const none = { other: null, postmaster: null, countsStatements: false };
  const store = fsync ? 'embedded' : 'embedded, no fsync';
  return { store, engine, demo, sql, ...seeded, ...none };
}

interface Seeded {
  readonly clientId: number;
  readonly tagIds: readonly number[];
}

async function seed(
  sql: SqlPool,
  { appId }: Pick<Demo, 'appId'>,
  tokens: readonly string[],
): Promise<Seeded> {
  const [app] = await sql<{ clientId: number }[]>`
    select client_id as "clientId" from apps where id = ${appId}`;
  const clientId = app?.clientId ?? 0;
  const tags = await sql<{ id: number }[]>`
    insert into tags (client_id, name)
    select ${clientId}, 'club ' || n from generate_series(1, ${tokens.length}::integer) as n returning id`;
  const tagIds = tags.map(({ id }) => id);
  const [mark] = await sql<{ first: number }[]>`
    update app_platforms set next_ordinal = next_ordinal + ${tokens.length}
    where app_id = ${appId} and platform_id = ${PLATFORMS.apns}
    returning next_ordinal - ${tokens.length}::integer as first`;
  const firstOrdinal = mark?.first ?? 0;
  await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at, tag_ids)
    select ${appId}, ${PLATFORMS.apns}, ${firstOrdinal}::integer + n - 1, md5('small' || n)::uuid,
      (${[...tokens]}::text[])[n], now() - interval '3 days', array[(${[...tagIds]}::integer[])[n]]
    from generate_series(1, ${tokens.length}::integer) as n`;
  await sql`
    insert into device_group_tags (app_id, platform_id, tag_id, group_number)
    select app_id, platform_id, tag_ids[1], ordinal >> 13 from devices
    where app_id = ${appId} and platform_id = ${PLATFORMS.apns} and ordinal >= ${firstOrdinal}`;
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select distinct app_id, platform_id, ordinal >> 13, 1 from devices
    where app_id = ${appId} and platform_id = ${PLATFORMS.apns} and ordinal >= ${firstOrdinal}
    on conflict (app_id, platform_id, group_number) do update set version = device_groups.version + 1`;
  return { clientId, tagIds };
}

function environmentOf(stage: Lifetime, sink: Sink): Readonly<Record<string, string>> {
  const caFile = join(temporaryDirectory(stage), 'ca.pem');
  writeFileSync(caFile, sink.ca);
  return { APNS_ORIGIN: originOf(sink), PROVIDER_CA_FILE: caFile };
}
