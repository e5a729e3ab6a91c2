/** The only reader of the environment: one record per option, parsed once into a frozen Config. */

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { foreignText } from '../../packages/std/src/foreign-text.ts';
import { SIGN_UP_MODES } from '../access/accounts/sign-up-mode.ts';
import { REQUEST_LOGS } from '../api/request-log.ts';
import { readDatabaseUrl } from '../database/database-url.ts';
import { UNWRITTEN_MS_MAX } from '../domain/device.ts';
import { HTTP_FRONTS } from '../http/choose-front.ts';
import { readNetwork } from '../http/client-address.ts';
import { PROVIDER_SETTINGS } from '../providers/operator-settings.ts';
import { meantName } from '../std/nearest-name.ts';
import { pemFaults } from '../std/pem-faults.ts';
import { count, list } from '../std/setting-forms.ts';
import type { RedisAddress } from '../tag-index/redis/connect.ts';
import { TRANSPORTS } from '../transport/transport.ts';

/** @limit simulated devices of the demo → no start with more */
export const DEMO_DEVICES_MAX = 10_000;

const port = count(0, 65_535);
const flag = z
  .enum(['0', '1', 'true', 'false'], { error: 'must be 1 or 0' })
  .transform((value) => value === '1' || value === 'true');
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
/** An origin as browsers write it in Origin, or `*`; null: no page has such an origin. */
function pageOrigin(text: string): string | null {
  if (text === '*' || text === 'null') return text;
  if (!URL.canParse(text)) return null;
  const { protocol, host, pathname, search, hash, username } = new URL(text);
  const hasPath = pathname !== '' && pathname !== '/';
  const isOrigin = host !== '' && !hasPath && search + hash + username === '';
  return isOrigin ? `${protocol}//${host.toLowerCase()}` : null;
}
/** Quotes only the scheme: the rest may hold a password, also in a wrong URL. */
function databaseUrlFault(url: string): string | null {
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'postgres' && scheme !== 'postgresql') {
    return `must begin with postgres://, not ${scheme}://: only PostgreSQL will do`;
  }
  const read = readDatabaseUrl(url);
  return read.ok ? null : read.fault;
}
const bearerToken = z
  .string()
  .min(32, { error: 'must have 32 characters or more: `openssl rand -hex 32` makes one' })
  .max(1_024, { error: 'must have 1024 characters at most' })
  .regex(/^\S*$/, { error: 'must have no spaces' })
  .optional();
const redisUrl = z.url({
  protocol: /^rediss?$/,
  error: 'must be a URL as redis://[user:password@]host:port',
});
/** All variables: `npm run docs` writes docs/reference/settings.md and config/example.env. */
export const schema = z.object({
  HOST: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address to listen on. The default is reachable from this machine only.'),
  PORT: port.default(8080).describe('Port to listen on; 0 takes a free one.'),
  HTTP_FRONT: z
    .enum(HTTP_FRONTS, { error: `must be ${HTTP_FRONTS.join(', ')}` })
    .default('auto')
    .describe(
      'Front that reads the requests of callers: uws, uWebSockets.js, and no start without it; node, the strict one of our own; auto, uWebSockets.js where it runs, else our own.',
    ),
  DATA_DIR: z
    .string()
    .min(1)
    .default('data')
    .transform((path) => resolve(path))
    .describe('Directory of the embedded database, its keys and demo.json.'),
  EMBEDDED_FSYNC: flag
    .default(true)
    .describe(
      'Whether what the embedded database confirms is on the disk by then. 1: it survives a power cut; 0: for tests: a power cut may destroy the database, `kill -9` does not.',
    ),
  DATABASE_URL: z
    .string()
    .superRefine((url, context) => {
      const fault = databaseUrlFault(url);
      if (fault !== null) context.addIssue(fault);
    })
    .optional()
    .describe('A PostgreSQL (15 or later) to use in place of the embedded one.'),
  MIGRATE_BESIDE_OLD_NODES: flag
    .default(false)
    .describe(
      '1: migrate the database although nodes at work are too old for it, which answer 503 from then on; 0: refuse to start beside them.',
    ),
  REDIS_URL: redisUrl
    .optional()
    .describe(
      'A Redis (7 or later) to keep the tag index in, as redis://[user:password@]host:port.',
    ),
  REDIS_CLUSTER: list
    .refine(
      (entries) => entries.length > 0 && entries.every((url) => redisUrl.safeParse(url).success),
      {
        error: 'must be redis:// or rediss:// URLs, separated by commas',
      },
    )
    .optional()
    .describe(
      'Some nodes of a Redis Cluster to keep the tag index in, as URLs separated by commas; in place of REDIS_URL.',
    ),
  SECRET_KEY: z
    .string()
    .min(32, { error: 'must have 32 characters or more: `openssl rand -hex 32` makes one' })
    .max(1_024, { error: 'must have 1024 characters at most' })
    .optional()
    .describe(
      'Secret of 32 or more characters that credentials are encrypted and hashed with. Needed with DATABASE_URL; made in DATA_DIR otherwise.',
    ),
  SECRET_KEY_OTHER: z
    .string()
    .min(32, { error: 'must have 32 characters or more, as SECRET_KEY has' })
    .max(1_024, { error: 'must have 1024 characters at most' })
    .optional()
    .describe(
      'A second secret key that is read with, and not written, while `tagcast secret-key rotate` replaces one by the other.',
    ),
  OPERATOR_TOKEN: bearerToken.describe(
    'Secret of 32 or more characters, without spaces, that opens all that an operator may do, at /operator/v1; without one there is no such path.',
  ),
  METRICS_TOKEN: bearerToken.describe(
    'Secret of 32 or more characters, without spaces, that opens /metrics to other machines, and nothing else.',
  ),
  OPERATOR_URL: z
    .url({ protocol: /^https?$/, error: 'must be a URL as https://push.example.com' })
    .optional()
    .describe(
      'An engine elsewhere that the operator commands ask, with its OPERATOR_TOKEN; without one they ask the engine on DATA_DIR, or the database.',
    ),
  DEMO: flag
    .optional()
    .describe(
      '1: create the demo client and run the provider simulator even if DATABASE_URL is set; 0: neither, even if it is not set.',
    ),
  DEMO_DEVICES: count(0, DEMO_DEVICES_MAX)
    .default(3_000)
    .describe(
      'Simulated devices that the app of the demo client gets when it has none. An engine that sends to the real providers erases them.',
    ),
  TLS_CERT_FILE: z
    .string()
    .min(1)
    .optional()
    .describe('PEM certificate chain; with TLS_KEY_FILE the service speaks HTTPS.'),
  TLS_KEY_FILE: z.string().min(1).optional().describe('PEM private key of TLS_CERT_FILE.'),
  TRUSTED_PROXIES: list
    .refine((proxies) => proxies.every((proxy) => readNetwork(proxy) !== null), {
      error: 'must be addresses, or networks as 10.0.0.0/8, separated by commas',
    })
    .default([])
    .describe('Addresses of proxies, separated by commas, whose X-Forwarded-For counts.'),
  CORS_ORIGINS: list
    .refine((origins) => origins.every((one) => pageOrigin(one) !== null), {
      error: 'must be * or origins as https://app.example.com, without a path, separated by commas',
    })
    .transform((origins) => origins.map((one) => pageOrigin(one) ?? one))
    .default(['*'])
    .describe('Origins, separated by commas, from which browsers may call; * is every origin.'),
  SIGN_UP: z
    .enum(SIGN_UP_MODES, { error: 'must be off, open or invitation' })
    .default('off')
    .describe(
      'Who may make a client in the console: off, nobody; open, everybody who reaches it; invitation, people with a link of `tagcast operator invite`.',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      error: 'must be trace, debug, info, warn, error, fatal or silent',
    })
    .default('info')
    .describe('Lowest level that is logged.'),
  REQUEST_LOG: z
    .enum(REQUEST_LOGS, { error: `must be ${REQUEST_LOGS.join(', ')}` })
    .default('publishers')
    .describe(
      'Requests that are logged one by one, at level info: all, those of publishers (all but the App API, health and pages), or none.',
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL as http://collector:4318' })
    .optional()
    .describe(
      'Collector that gets traces by OTLP over HTTP (JSON), without the path /v1/traces; without one nothing is traced.',
    ),
  OTEL_TRACES_SAMPLER: z
    .enum(['parentbased_always_on', 'parentbased_traceidratio'], {
      error: 'must be parentbased_always_on or parentbased_traceidratio',
    })
    .default('parentbased_always_on')
    .describe('Which traces that begin here are recorded: all, or a share of them.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number({ error: 'must be a share from 0 to 1' })
    .min(0, { error: 'must be a share from 0 to 1' })
    .max(1, { error: 'must be a share from 0 to 1' })
    .default(1)
    .describe('The share of parentbased_traceidratio; the same on every node.'),
  WORKERS: count(1, 64)
    .default(Math.max(1, availableParallelism() - 1))
    .describe('Threads that send. Default: one less than the cores.'),
  CHUNK_LEASE_MS: count(500, 600_000)
    .default(30_000)
    .describe(
      'How long a node may hold a part of a send without reporting progress, in milliseconds.',
    ),
  ...PROVIDER_SETTINGS,
  PROVIDER_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      "PEM certificates that are trusted, besides the system's, for those origins and hosts above that are not the providers' own. NODE_EXTRA_CA_CERTS is trusted everywhere.",
    ),
  SENDER_TRANSPORT: z
    .enum(TRANSPORTS, { error: `must be ${TRANSPORTS.join(' or ')}` })
    .default('http2')
    .describe(
      "HTTP/2 implementation that sends requests to the providers: http2, Tagcast's own, or compat, that of Node.js.",
    ),
  PROVIDER_CONNECTIONS_MAX: count(1, 10_000)
    .default(64)
    .describe(
      'Most connections of one credential to one provider, over all threads of a node; each thread has at least one.',
    ),
  REPLACEABLE_DEFAULT: flag
    .default(true)
    .describe(
      'Whether an alert carries an identity by which a later message can take its place on the device (1), or only where its payload asks for it (0). The same on every node.',
    ),
  WEBHOOK_PRIVATE_ADDRESSES: flag
    .default(false)
    .describe(
      '1: webhooks may be at http:// addresses and in private networks, also on this machine; 0: only at https:// in the public internet.',
    ),
  REGISTRATIONS_IN_FLIGHT_MAX: count(1, 1_000_000)
    .default(8_000)
    .describe('Registrations that may wait for their commit; beyond that the answer is 503.'),
  REGISTRATIONS_PER_SECOND_MAX: count(1, 10_000_000)
    .default(50_000)
    .describe(
      'Registrations per second of one app from one address; beyond that the answer is 429.',
    ),
  DEVICES_PER_APP_MAX: count(1, 2_000_000_000)
    .default(100_000_000)
    .describe('Devices of one app on one platform; beyond that new ones are answered 429.'),
  TAGS_PER_DEVICE_MAX: count(1, 100_000)
    .default(5_000)
    .describe('Tags of one device; further ones are ignored, and Tagcast-Ignored says so.'),
  REGISTRATION_REFRESH_HOURS: count(0, UNWRITTEN_MS_MAX / 3_600_000)
    .default(24)
    .describe(
      'Hours within which a registration that changes nothing is not written again; 0: every one is written.',
    ),
  DEVICE_RETENTION_DAYS: count(1, 3_650)
    .default(30)
    .describe('Days after which a device without tags is erased.'),
  NOTIFICATION_RETENTION_DAYS: count(1, 3_650)
    .default(90)
    .describe(
      'Days for which a push job and its counts are kept after its end; then its status is 404.',
    ),
  REACH_RETENTION_DAYS: count(1, 30)
    .default(7)
    .describe('Days for which it is kept, after the end of a push job, which devices it reached.'),
});

export type Config = Readonly<z.infer<typeof schema>>;

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Reads the configuration. An empty value counts as not set, as `NAME=` in an env file. */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): ConfigResult {
  const given = Object.fromEntries(
    Object.keys(schema.shape)
      .map((name) => [name, environment[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const sentences = new Map<string, string>();
    for (const { path, message } of parsed.error.issues) {
      const name = path.join('.');
      if (!sentences.has(name))
        sentences.set(name, `${name}: ${message}${insteadOf(name, given)}.`);
    }
    return { ok: false, faults: [...sentences.values()] };
  }
  const faults = faultsBetween(parsed.data);
  return faults.length > 0
    ? { ok: false, faults }
    : { ok: true, config: Object.freeze(parsed.data) };
}

const NAMES = Object.keys(schema.shape);
/** How settings are written, with one letter case and an underscore. */
const NAME_FORM = /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/;

/** Variables that are not read, and the settings that they were most likely meant to be. */
export const mistypedSettings = (
  environment: NodeJS.ProcessEnv = process.env,
): readonly (readonly [name: string, nearest: string])[] =>
  Object.keys(environment)
    .filter((name) => NAME_FORM.test(name) && !NAMES.includes(name))
    .flatMap((name) => {
      const nearest = meantName(name, NAMES);
      return nearest === null || environment[nearest] !== undefined ? [] : [[name, nearest]];
    });

/**
 * Settings that only a deployment has, while DATABASE_URL and DEMO are not set: the engine would
 * serve an empty embedded database.
 */
export const settingsWithoutDatabase = (config: Config): readonly string[] =>
  config.DATABASE_URL === undefined && config.DEMO === undefined
    ? OF_DEPLOYMENTS.filter((name) => config[name] !== undefined)
    : [];

const OF_DEPLOYMENTS = ['SECRET_KEY', 'SECRET_KEY_OTHER', 'OPERATOR_TOKEN'] as const;

/** Settings whose values are secrets or hold passwords, also where they are wrong. */
const SECRET_SETTINGS: readonly string[] = [
  'SECRET_KEY',
  'SECRET_KEY_OTHER',
  'OPERATOR_TOKEN',
  'METRICS_TOKEN',
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_CLUSTER',
];
const VALUE_LENGTH_MAX = 100;

const insteadOf = (name: string, given: Readonly<Record<string, string | undefined>>): string =>
  SECRET_SETTINGS.includes(name) ? '' : `, not ${foreignText(given[name] ?? '', VALUE_LENGTH_MAX)}`;

function faultsBetween(config: Config): readonly string[] {
  const faults: string[] = [];
  if (config.DATABASE_URL !== undefined && config.SECRET_KEY === undefined) {
    faults.push(
      'SECRET_KEY: must be set when DATABASE_URL is set, to the same value on every node.',
    );
  }
  if (config.OPERATOR_URL !== undefined && config.OPERATOR_TOKEN === undefined) {
    faults.push('OPERATOR_URL: needs OPERATOR_TOKEN, the one of that engine.');
  }
  const redis = config.REDIS_CLUSTER === undefined ? 'REDIS_URL' : 'REDIS_CLUSTER';
  if (config.DATABASE_URL === undefined && redisAddressOf(config) !== null) {
    faults.push(`${redis}: needs DATABASE_URL; the embedded database is its own index.`);
  }
  if (config.REDIS_URL !== undefined && config.REDIS_CLUSTER !== undefined) {
    faults.push('REDIS_CLUSTER: replaces REDIS_URL; set only one of them.');
  }
  if ((config.TLS_CERT_FILE === undefined) !== (config.TLS_KEY_FILE === undefined)) {
    faults.push('TLS_CERT_FILE: goes with TLS_KEY_FILE; set both or neither.');
  }
  return [...faults, ...pemFaults(config)];
}

/** The Redis that holds the tag index; null: the database holds it. */
export function redisAddressOf({ REDIS_URL, REDIS_CLUSTER }: Config): RedisAddress | null {
  if (REDIS_CLUSTER !== undefined) return { kind: 'cluster', urls: REDIS_CLUSTER };
  return REDIS_URL === undefined ? null : { kind: 'single', url: REDIS_URL };
}
