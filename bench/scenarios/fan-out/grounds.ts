/**
 * What the fan-out bench stands on: a PostgreSQL with fsync, a Redis with the index, an app with two million devices, and engines on it, one at a
 * time, each sending to one sink.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLATFORM_APNS } from '../../../src/domain/device.ts';
import type { ProviderAccounts } from '../../../src/simulator/accounts.ts';
import type { SqlPool } from '../../../src/store/sql.ts';
import { connect } from '../../../src/store/sql.ts';
import type { Lifetime } from '../../../test/support/lifetime.ts';
import { findPostgres, startPostgres } from '../../../test/support/postgres-server.ts';
import type { Demo, EngineProcess, SimulatorProcess } from '../../../test/support/processes.ts';
import { runCommand, startEngine, startSimulatorProcess } from '../../../test/support/processes.ts';
import { findProgram } from '../../../test/support/programs.ts';
import { startRedis } from '../../../test/support/redis-server.ts';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';

type Environment = Readonly<Record<string, string>>;

export const DEVICES = 1_000_000;
export const DEVICES_MANY = 2_000_000;
/** For code to become hot, and statements to be prepared. */
export const DEVICES_FIRST = 200_000;
/** Of the small tag: one in every tenth of the first million. */
export const DEVICES_FEW = 10;
const FEW_APART = 99_991;

/** The answers of a simulator with a small young generation would be copied by each of its collections (sinks/simulator.ts). */
const YOUNG = { NODE_OPTIONS: '--max-semi-space-size=64' };

export interface Grounds {
  readonly demo: Demo;
  readonly sql: SqlPool;
  readonly simulator: SimulatorProcess;
  /** By how many devices each has. */
  readonly tags: {
    readonly one: number;
    readonly many: number;
    readonly first: number;
    readonly few: number;
  };
  /** An engine that sends where `sink` says, with the index in Redis or in the database. Nothing else may run on these devices. */
  start(index: 'redis' | 'sql', sink: Environment): Promise<EngineProcess>;
}

/** Null, with a word to the console: a PostgreSQL or a Redis is missing. `deviceIds`: tokens that the sinks know, given out in turn. */
export async function prepareGrounds(
  stage: Lifetime,
  deviceIds: readonly string[],
): Promise<Grounds | null> {
  const bin = findPostgres();
  if (bin === null || findProgram('redis-server') === null) {
    console.log('(PostgreSQL or Redis is not installed: nothing to measure)');
    return null;
  }
  const server = await startPostgres(bin, { fsync: true });
  stage.teardown(() => server.stop());
  const redis = await startRedis(stage);
  const simulator = await startSimulatorProcess(stage, ['--streams', '1000'], YOUNG);
  const dataDir = temporaryDirectory(stage);
  const base = {
    DATABASE_URL: server.url,
    SECRET_KEY: 'a secret for the bench only, long enough',
    DATA_DIR: dataDir,
    WORKERS: '1',
  };
  const first = await startEngine(stage, dataDir, { ...base, DEMO: '1' });
  const demo = first.demo();
  await first.end('SIGTERM');
  await useAccountOf(stage, simulator, demo, base);
  const sql = connect({ kind: 'postgres', url: server.url }, 1);
  stage.teardown(() => sql.end());
  const [one = 0, many = 0, hot = 0, few = 0] = demo.tagIds;
  await seed(sql, demo.appId, deviceIds, { one, many, first: hot, few });
  const indexed = { ...base, REDIS_URL: redis.url };
  await command(stage, ['index', 'rebuild'], indexed);
  return {
    demo,
    sql,
    simulator,
    tags: { one, many, first: hot, few },
    start: (index, sink) =>
      startEngine(stage, dataDir, { ...(index === 'redis' ? indexed : base), ...sink }),
  };
}

/** The app gets the key that the simulator knows; other sinks look at none. */
async function useAccountOf(
  stage: Lifetime,
  simulator: SimulatorProcess,
  { appId }: Demo,
  environment: Environment,
): Promise<void> {
  const response = await fetch(`${simulator.controlUrl}/accounts`);
  const [account] = (await response.json()) as readonly ProviderAccounts[];
  if (account === undefined) throw new Error('the simulator has no accounts');
  const { teamId, keyId, bundleId, privateKey } = account.apns;
  const keyFile = join(temporaryDirectory(stage), 'key.p8');
  writeFileSync(keyFile, privateKey);
  const flags = [
    `--team-id=${teamId}`,
    `--key-id=${keyId}`,
    `--bundle-id=${bundleId}`,
    `--key-file=${keyFile}`,
  ];
  await command(stage, ['app', 'credentials', String(appId), 'apns', ...flags], {
    ...environment,
    ...simulator.environment,
  });
}

async function command(stage: Lifetime, args: readonly string[], environment: Environment) {
  const { code, output } = await runCommand(stage, args, environment);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`);
}

/**
 * The keys that devices are found by are made up, for the same tokens come again and again: what nghttpd can answer at full speed is a
 * thousand files. Sends never look at them.
 */
async function seed(
  sql: SqlPool,
  appId: number,
  deviceIds: readonly string[],
  tags: Grounds['tags'],
): Promise<void> {
  const end = DEVICES_MANY - 1;
  await sql`
    update app_platforms set next_ordinal = ${DEVICES_MANY}
    where app_id = ${appId} and platform_id = ${PLATFORM_APNS}`;
  await sql`
    insert into devices (app_id, platform_id, ordinal, device_key, device_id, registered_at)
    select ${appId}, ${PLATFORM_APNS}, ordinal, md5(ordinal::text)::uuid,
      (${[...deviceIds]}::text[])[1 + ordinal % ${deviceIds.length}::integer], now() - interval '1 day'
    from generate_series(0, ${end}::integer) as ordinal`;
  for (const [tagId, count, apart] of [
    [tags.one, DEVICES, 1],
    [tags.many, DEVICES_MANY, 1],
    [tags.first, DEVICES_FIRST, 1],
    [tags.few, DEVICES_FEW, FEW_APART],
  ] as const) {
    await sql`
      insert into subscriptions (app_id, platform_id, tag_id, ordinal)
      select ${appId}, ${PLATFORM_APNS}, ${tagId}, n * ${apart}::integer
      from generate_series(0, ${count - 1}::integer) as n`;
  }
  await sql`
    insert into device_groups (app_id, platform_id, group_number, version)
    select ${appId}, ${PLATFORM_APNS}, g, 1 from generate_series(0, ${end}::integer >> 13) as g`;
  await sql.unsafe('vacuum analyze');
  await sql.unsafe('checkpoint');
}
