/** A PostgreSQL server for one test run, from whatever installation the machine has. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findProgram, freePorts } from './programs.ts';

export interface PostgresServer {
  readonly url: string;
  /** Its first process, whose children are the others. */
  readonly pid: number;
  stop(): Promise<void>;
}

const DEBIAN_INSTALLATIONS = '/usr/lib/postgresql';
const STATEMENTS = 'pg_stat_statements';
const STARTED = /database system is ready to accept connections/;

/**
 * Where initdb and postgres are: on PATH, or in Debian's place for them (the newest). Null:
 * nowhere.
 */
export function findPostgres(): string | null {
  const found = findProgram('initdb');
  if (found !== null) return dirname(found);
  if (!existsSync(DEBIAN_INSTALLATIONS)) return null;
  const versions = readdirSync(DEBIAN_INSTALLATIONS).sort((a, b) => Number(b) - Number(a));
  const bin = versions.map((version) => join(DEBIAN_INSTALLATIONS, version, 'bin'));
  return bin.find((directory) => existsSync(join(directory, 'initdb'))) ?? null;
}

/** Whether this installation can count statements. Debian's has what that needs. */
export function canCountStatements(binDirectory: string): boolean {
  const installed = dirname(realpathSync(join(binDirectory, 'postgres')));
  return existsSync(join(installed, '..', 'lib', `${STATEMENTS}.so`));
}

interface PostgresOptions {
  readonly fsync: boolean;
  /** Loads the extension pg_stat_statements, which each statement pays for. Absent: it does not. */
  readonly countsStatements?: boolean;
}

/**
 * Starts a server on a free loopback port. Tests go without fsync, for none cuts the power; benches
 * with it.
 */
export async function startPostgres(
  binDirectory: string,
  { fsync, countsStatements = false }: PostgresOptions,
): Promise<PostgresServer> {
  const directory = mkdtempSync(join(tmpdir(), 'tagcast-postgres-'));
  const owner = unprivilegedOwner();
  if (owner !== null) chownSync(directory, owner.uid, owner.gid);
  const data = join(directory, 'data');
  const initdb = spawnSync(
    join(binDirectory, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    { ...owner, encoding: 'utf8', cwd: directory },
  );
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr}`);
  const [port = 0] = await freePorts(1);
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${directory}`,
    'max_connections=300',
    `fsync=${fsync ? 'on' : 'off'}`,
    ...(countsStatements ? [`shared_preload_libraries=${STATEMENTS}`] : []),
  ];
  const server = spawn(
    join(binDirectory, 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    { ...owner, stdio: ['ignore', 'ignore', 'pipe'], cwd: directory },
  );
  await untilStarted(server);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    pid: server.pid ?? 0,
    async stop() {
      const exited = once(server, 'exit');
      // SIGINT is PostgreSQL's fast shutdown.
      server.kill('SIGINT');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * PostgreSQL refuses to run as root: then it runs as the user that Debian made for it, or as the
 * user 65534.
 */
export function unprivilegedOwner(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const idOf = (option: string): number | null => {
    const { status, stdout } = spawnSync('id', [option, 'postgres'], { encoding: 'utf8' });
    return status === 0 ? Number(stdout) : null;
  };
  return { uid: idOf('-u') ?? 65_534, gid: idOf('-g') ?? 65_534 };
}

function untilStarted(server: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // Read to the end of its life, or the pipe fills and the server stops.
      if (log.length < 100_000) log += text;
      if (STARTED.test(log)) resolve();
    });
    server.once('exit', () => reject(new Error(`PostgreSQL did not start: ${log}`)));
  });
}
