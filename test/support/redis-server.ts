/**
 * Redis servers for tests: single ones and a cluster, from whatever installation the machine has;
 * killed with the test.
 */

import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Test } from 'tap';
import { skipsForbidden } from './environment.ts';
import type { Lifetime } from './lifetime.ts';
import { until } from './poll.ts';
import { collect, findProgram, freePorts, isListening } from './programs.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const READY_TRIES = 200;
const READY_POLL_MS = 50;
const MASTERS = 3;

/** A server that can be killed, frozen and started again where it was. */
export interface RedisServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** A client of the test's own. */
  readonly client: Redis;
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL; resolves when it has ended. */
  kill(): Promise<void>;
  /** On the same port; with the data of its last save when there is one in its directory. */
  start(): Promise<void>;
}

/** Skips, loudly, when there is no redis-server. */
export async function withRedis(t: Test, body: (t: Test) => Promise<void>): Promise<void> {
  if (findProgram('redis-server') !== null) {
    await t.test('redis', body);
    return;
  }
  const reason = 'no Redis: install redis-server';
  if (skipsForbidden) t.fail(reason);
  else await t.test('redis', { skip: reason }, () => undefined);
}

/** Starts one on a free loopback port; `settings` as on its command line. */
export async function startRedis(
  t: Lifetime,
  settings: readonly string[] = [],
): Promise<RedisServer> {
  const [port = 0] = await freePorts(1);
  const server = new Server(t, port, settings);
  await server.start();
  return server;
}

export interface RedisCluster {
  readonly urls: readonly string[];
  /** In order of their slots. */
  readonly masters: readonly RedisServer[];
  /** Replicas of each master, when asked for. */
  readonly replicas: readonly RedisServer[];
}

/** Three masters, each with a replica if asked for. */
export async function startRedisCluster(
  t: Lifetime,
  { hasReplicas = false }: { readonly hasReplicas?: boolean } = {},
): Promise<RedisCluster> {
  const count = hasReplicas ? MASTERS * 2 : MASTERS;
  const ports = await freePorts(count);
  const servers = ports.map(
    (port) => new Server(t, port, ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1500']),
  );
  await Promise.all(servers.map((server) => server.start()));
  const { status, stdout, stderr } = spawnSync(
    findProgram('redis-cli') ?? 'redis-cli',
    [
      '--cluster',
      'create',
      ...ports.map((port) => `127.0.0.1:${port}`),
      '--cluster-replicas',
      hasReplicas ? '1' : '0',
      '--cluster-yes',
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`no cluster: ${stdout}${stderr}`);
  await Promise.all(servers.map((server) => untilClusterIsUp(server, count)));
  const masters: RedisServer[] = [];
  const replicas: RedisServer[] = [];
  for (const server of servers) {
    const role = (await server.client.role()) as readonly unknown[];
    (role[0] === 'master' ? masters : replicas).push(server);
  }
  return { urls: masters.map(({ url }) => url), masters, replicas };
}

async function untilClusterIsUp(server: RedisServer, nodes: number): Promise<void> {
  for (let attempt = 0; attempt < READY_TRIES; attempt += 1) {
    const info = await server.client.cluster('INFO');
    if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes}`)) return;
    await sleep(READY_POLL_MS);
  }
  throw new Error('the cluster does not come up');
}

class Server implements RedisServer {
  readonly port: number;
  readonly client: Redis;
  readonly #directory: string;
  readonly #settings: readonly string[];
  #child: ChildProcess | null = null;

  constructor(t: Lifetime, port: number, settings: readonly string[]) {
    this.port = port;
    this.#directory = temporaryDirectory(t);
    this.#settings = settings;
    this.client = new Redis({
      port,
      host: '127.0.0.1',
      lazyConnect: true,
      retryStrategy: () => 50,
    });
    this.client.on('error', () => undefined);
    t.teardown(async () => {
      this.client.disconnect();
      await this.kill();
    });
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async start(): Promise<void> {
    const child = spawn(
      findProgram('redis-server') ?? 'redis-server',
      [
        join(import.meta.dirname, '..', '..', '..', 'config', 'redis.conf'),
        '--port',
        String(this.port),
        '--bind',
        '127.0.0.1',
        '--dir',
        this.#directory,
        '--daemonize',
        'no',
        ...this.#settings,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    this.#child = child;
    const log = collect(child);
    const isUp = await until('redis-server listens', () => isListening(child, [this.port]));
    if (!isUp) throw new Error(`redis-server on port ${this.port} ended: ${log()}`);
    // Its answer waits until the data is loaded.
    await this.client.ping();
  }
}
