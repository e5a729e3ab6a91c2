/**
 * The ground of a bench of the whole service: a PostgreSQL with fsync, a Redis with the index, an
 * app with many devices, a simulator that takes its pushes, and engines on them, one at a time.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProviderAccounts } from '../packages/simulator/src/accounts.ts';
import type { SqlPool } from '../src/database/sql.ts';
import { connect } from '../src/database/sql.ts';
import type { Lifetime } from '../test/support/lifetime.ts';
import {
  canCountStatements,
  findPostgres,
  startPostgres,
} from '../test/support/postgres-server.ts';
import type { Demo, EngineProcess, SimulatorProcess } from '../test/support/processes.ts';
import { runCommand, startEngine, startSimulatorProcess } from '../test/support/processes.ts';
import { findProgram } from '../test/support/programs.ts';
import type { RedisServer } from '../test/support/redis-server.ts';
import { startRedis } from '../test/support/redis-server.ts';
import { temporaryDirectory } from '../test/support/temporary-directory.ts';

type Environment = Readonly<Record<string, string>>;

/**
 * The answers of a simulator with a small young generation would be copied by each of its
 * collections (sinks/simulator.ts).
 */
const YOUNG = { NODE_OPTIONS: '--max-semi-space-size=64' };

export interface BenchTenant {
  readonly appId: number;
  readonly superUserToken: string;
}

export interface Grounds {
  readonly demo: Demo;
  readonly sql: SqlPool;
  readonly redis: RedisServer;
  readonly simulator: SimulatorProcess;
  /** Counted by pg_stat_statements. */
  readonly countsStatements: boolean;
  /** Runs `tagcast …` with the index in Redis; throws when it fails. */
  command(args: readonly string[]): Promise<void>;
  /**
   * A client with an app on iOS, which has the key that the simulator knows. No engine runs yet.
   */
  addTenant(slug: string): Promise<BenchTenant>;
  /**
   * An engine that sends where `sink` says, with the index in Redis or in the database. Nothing
   * else may run on these devices.
   */
  start(index: 'redis' | 'sql', sink: Environment): Promise<EngineProcess>;
}

/**
 * Null, with a word to the console: a PostgreSQL or a Redis is missing. `seed` makes the devices.
 * `isCounted`: PostgreSQL counts its statements, if it can.
 */
export async function prepareGrounds(
  stage: Lifetime,
  seed: (sql: SqlPool, demo: Demo) => Promise<void>,
  isCounted = false,
): Promise<Grounds | null> {
  const bin = findPostgres();
  if (bin === null || findProgram('redis-server') === null) {
    console.log('(PostgreSQL or Redis is not installed: nothing to measure)');
    return null;
  }
  const countsStatements = isCounted && canCountStatements(bin);
  const server = await startPostgres(bin, { fsync: true, countsStatements });
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
  if (countsStatements) await sql`create extension pg_stat_statements`;
  await seed(sql, demo);
  await sql.unsafe('vacuum analyze');
  await sql.unsafe('checkpoint');
  const indexed = { ...base, REDIS_URL: redis.url };
  await command(stage, ['index', 'rebuild'], indexed);
  return {
    demo,
    sql,
    redis,
    simulator,
    countsStatements,
    async command(args) {
      await command(stage, args, indexed);
    },
    async addTenant(slug) {
      const client = await command(stage, ['client', 'add', slug], base);
      const app = await command(stage, ['app', 'add', slug, slug, '--platform=3'], base);
      const tenant = {
        appId: Number(told(APP, app)),
        superUserToken: told(TOKEN, client),
      };
      await useAccountOf(stage, simulator, tenant, base);
      return tenant;
    },
    start: (index, sink) =>
      startEngine(stage, dataDir, { ...(index === 'redis' ? indexed : base), ...sink }),
  };
}

/** The app gets the key that the simulator knows; other sinks look at none. */
async function useAccountOf(
  stage: Lifetime,
  simulator: SimulatorProcess,
  { appId }: Pick<Demo, 'appId'>,
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

const TOKEN = /Token\s+(\S+)/;
const APP = /^App (\d+)/m;

/** Finds a value in a command's output. */
function told(pattern: RegExp, output: string): string {
  const [, found] = pattern.exec(output) ?? [];
  if (found === undefined) throw new Error(`a command has not printed ${pattern}: ${output}`);
  return found;
}

/** Runs a command, and returns its output. */
async function command(
  stage: Lifetime,
  args: readonly string[],
  environment: Environment,
): Promise<string> {
  const { code, output } = await runCommand(stage, args, environment);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`);
  return output;
}
