/** The one way to Redis, single or cluster. Commands are answered soon, or fail: SQL can answer. */

import { Cluster, Redis } from 'ioredis';
import { VerbatimString } from 'ioredis/built/resp/verbatim-string.js';
import type { BackoffPolicy } from '../../std/backoff.ts';
import { backoffMs } from '../../std/backoff.ts';
import { TRUST_BY_NODE, tlsFault } from '../../std/tls-fault.ts';
import { within } from '../../std/within.ts';
import { APPLY, LOAD, READ_FIELDS } from './scripts.ts';

/** Where Redis is: URLs as redis://[user:password@]host[:port][/db], rediss:// with TLS. */
export type RedisAddress =
  | { readonly kind: 'single'; readonly url: string }
  /** Some nodes, to find the others by. User, password and TLS are the first one's. */
  | { readonly kind: 'cluster'; readonly urls: readonly string[] };

export const settingOf = ({ kind }: RedisAddress): string =>
  kind === 'single' ? 'REDIS_URL' : 'REDIS_CLUSTER';

/** The scripts as commands (scripts.ts). */
interface Scripts {
  applyChange(hashKey: string, ...args: (string | Buffer)[]): Promise<number>;
  loadGroup(hashKey: string, ...args: (string | Buffer)[]): Promise<number>;
  readFieldsBuffer(keys: number, ...keysAndFields: string[]): Promise<(Buffer | null)[][]>;
}

export type RedisClient = (Redis | Cluster) & Scripts;

/**
 * Reads are answered within milliseconds, and SQL can answer instead.
 * @limit an answer of Redis → it counts as failed, and the database is asked
 */
const COMMAND_MS_MAX = 1_000;
const CONNECT_MS_MAX = 2_000;
const RECONNECT: BackoffPolicy = { baseMs: 100, capMs: 2_000 };
/** For the first connection of an operator's command. */
const READY_MS_MAX = 5_000;
/**
 * The system would give up on a machine that was cut off after a quarter of an hour.
 * @limit a connection to Redis without a sign of life while an answer is awaited → it is replaced
 */
const SILENCE_MS_MAX = 3_000;
const PORT = 6_379;

/**
 * V8 looks up each method of each string of the thread slowly while a class extends String and has
 * no instance (`charCodeAt` takes 11 ns, not 2, on Node 20 and 24). ioredis 6 has such a class.
 */
new VerbatimString('', '');

const SCRIPTS = {
  applyChange: { lua: APPLY, numberOfKeys: 1 },
  loadGroup: { lua: LOAD, numberOfKeys: 1 },
  readFields: { lua: READ_FIELDS },
};

/** In the background, for ever. Calls `onError` with the reason of each failure. */
export function connectRedis(address: RedisAddress, onError: (error: Error) => void): RedisClient {
  const client = (address.kind === 'single'
    ? openSingle(address.url)
    : openCluster(address.urls)) as Redis | Cluster as RedisClient;
  client.on('error', onError);
  if (client instanceof Cluster) client.on('+node', writeTogether);
  else writeTogether(client);
  return client;
}

/**
 * Commands of one turn go to the socket in one write: single writes were a quarter of a worker's
 * time with small sends. (A pipeline: see read-fields.ts.)
 */
function writeTogether(client: Redis): void {
  const sendCommand = client.sendCommand.bind(client);
  client.sendCommand = (...given: Parameters<typeof sendCommand>) => {
    // It is not there before the first connection.
    const stream = client.stream as typeof client.stream | undefined;
    if (stream?.writable && stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    return sendCommand(...given);
  };
}

const TLS_ADVICE = { trust: TRUST_BY_NODE, plain: 'begin its URL with redis://' };

/** A Redis without TLS waits for the end of a line when it is greeted with TLS. */
function faultInWords(address: RedisAddress, error: Error): string {
  const words = tlsFault(error, TLS_ADVICE);
  if (words !== null) return `${words} (${error.message})`;
  const urls = address.kind === 'single' ? [address.url] : address.urls;
  const isSilent = 'code' in error && error.code === 'ETIMEDOUT';
  const isEncrypted = urls.some((url) => url.startsWith('rediss:'));
  return isSilent && isEncrypted
    ? `${error.message}; if it does not offer TLS there, ${TLS_ADVICE.plain}`
    : error.message;
}

/** For a command, which cannot use the database: a ready client, or a sentence why not. */
export async function connectWhole(address: RedisAddress): Promise<RedisClient | string> {
  let fault = 'it does not answer';
  const client = connectRedis(address, (error) => {
    fault = faultInWords(address, error);
  });
  const isReady = await within(
    READY_MS_MAX,
    new Promise<boolean>((resolve) => client.once('ready', () => resolve(true))),
    false,
  );
  if (isReady) return client;
  client.disconnect();
  return `${settingOf(address)}: Redis cannot be reached: ${fault}.`;
}

const retryInMs = (attempt: number): number => backoffMs(RECONNECT, attempt);

const OPTIONS = {
  commandTimeout: COMMAND_MS_MAX,
  connectTimeout: CONNECT_MS_MAX,
  socketTimeout: SILENCE_MS_MAX,
  // If the host name has moved to another server, only a new connection leads there.
  reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
  // The commands used here do not differ in the third version.
  protocol: 2 as const,
  // Commands under way fail at once when a connection is lost.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  scripts: SCRIPTS,
};

const openSingle = (url: string): Redis =>
  new Redis(url, { ...OPTIONS, enableOfflineQueue: false, retryStrategy: retryInMs });

function openCluster(urls: readonly string[]): Cluster {
  const nodes = urls.map((url) => new URL(url));
  const [first] = nodes;
  return new Cluster(
    nodes.map(({ hostname, port }) => ({
      host: hostname,
      port: port === '' ? PORT : Number(port),
    })),
    {
      scripts: SCRIPTS,
      // Connections to nodes open at first use, while the command waits (redis-breaker.ts).
      enableOfflineQueue: true,
      clusterRetryStrategy: retryInMs,
      // The client follows a moved slot. It does not wait for a lost node: SQL answers instead.
      maxRedirections: 3,
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshTimeout: CONNECT_MS_MAX,
      slotsRefreshInterval: 5_000,
      redisOptions: {
        ...OPTIONS,
        ...(first?.username ? { username: decodeURIComponent(first.username) } : {}),
        ...(first?.password ? { password: decodeURIComponent(first.password) } : {}),
        ...(first?.protocol === 'rediss:' ? { tls: {} } : {}),
      },
    },
  );
}
