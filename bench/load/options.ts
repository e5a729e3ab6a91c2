/** The settings of `npm run bench -- load`: from the command line, the environment, demo.json. */

import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';

export const PROFILES = ['register', 'mixed', 'send'] as const;
export type Profile = (typeof PROFILES)[number];

/** A load test of an hour measures a soak; `npm run bench -- soak` does that. */
const SECONDS_MAX = 600;
/** One process of autocannon serves no more without being the bottleneck itself. */
const CONNECTIONS_MAX = 1_000;
const PLATFORM_APNS = 3;

export const USAGE = `Drives a running Tagcast with autocannon and writes a report.

  npm run bench -- load [options]

  --url <address>         of the deployment; without it the one of demo.json
  --profile <profile>     register: new devices (default)
                          mixed: 70 % registrations that change nothing, 20 % that change tags, 10 % new devices
                          send: pushes to the first of the tags; real devices get them
  --seconds <n>           1 to ${SECONDS_MAX}; default 10
  --connections <n>       1 to ${CONNECTIONS_MAX}; default 64
  --rate <n>              requests a second, all connections together; without it as many as are answered
  --app <id>              the app of the devices; without it the one of demo.json
  --platform <id>         their platform; default ${PLATFORM_APNS}
  --tags <id,id,…>        their tags, or the tag to send to; without it those of demo.json
  --client <name>         the client; without it the one of demo.json
  --audience-max <n>      send: refuses a tag of more devices than this; default 1,000
  --keep                  the devices keep their tags afterwards; else they are unsubscribed from all
  --remote                allows an address that is not this machine
  --out <folder>          for load.json and load.html; default load-report
  --demo <file>           default \${DATA_DIR}/demo.json, which an engine with the demo client has written

Credentials come from the environment, where a list of processes does not show them; without it from demo.json:
  LOAD_APP_TOKEN          register, mixed: the token of an API user (App API)
  LOAD_TOKEN              send: the token of a super user, or a key with the scopes send and read
`;

export interface LoadOptions {
  readonly baseUrl: string;
  readonly profile: Profile;
  readonly seconds: number;
  readonly connections: number;
  /** Requests a second; null: as many as are answered. */
  readonly rate: number | null;
  readonly appId: number;
  readonly platformId: number;
  readonly tagIds: readonly number[];
  readonly client: string;
  readonly token: string;
  readonly audienceMax: number;
  readonly keepsDevices: boolean;
  readonly folder: string;
}

/** Describes the mistake, for the one who typed it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

const demoSchema = z.object({
  baseUrl: z.string(),
  clientId: z.string(),
  appId: z.number(),
  tagIds: z.array(z.number()),
  apiUser: z.object({ token: z.string() }),
  superUser: z.object({ token: z.string() }),
});

/** Throws a UsageError that says what to correct. Null: help is wanted. */
export async function readOptions(
  argv: readonly string[],
  environment: NodeJS.ProcessEnv = process.env,
): Promise<LoadOptions | null> {
  const values = parse(argv);
  if (values.help === true) return null;
  const profile = PROFILES.find((name) => name === (values.profile ?? 'register'));
  if (profile === undefined) {
    throw new UsageError(`--profile: there are ${PROFILES.join(', ')}; not ${values.profile}.`);
  }
  const demo = readDemo(values.demo ?? join(environment['DATA_DIR'] || 'data', 'demo.json'));
  const orDemo = <T>(given: T | undefined, ofDemo: T | undefined, name: string): T => {
    const value = given ?? ofDemo;
    if (value === undefined) throw new UsageError(`${name} is missing, and there is no demo.json.`);
    return value;
  };
  const isSend = profile === 'send';
  const baseUrl = orDemo(values.url, demo?.baseUrl, '--url');
  await checkAddress(baseUrl, values.remote === true);
  return {
    baseUrl: new URL(baseUrl).href.replace(LAST_SLASH, ''),
    profile,
    seconds: numberOf(values.seconds, '--seconds', SECONDS_MAX) ?? 10,
    connections: numberOf(values.connections, '--connections', CONNECTIONS_MAX) ?? 64,
    rate: numberOf(values.rate, '--rate', 1_000_000),
    appId: orDemo(numberOf(values.app, '--app', 2 ** 31 - 1) ?? undefined, demo?.appId, '--app'),
    platformId: numberOf(values.platform, '--platform', 1_000) ?? PLATFORM_APNS,
    tagIds: orDemo(tagsOf(values.tags), demo?.tagIds, '--tags'),
    client: orDemo(values.client, demo?.clientId, '--client'),
    token: isSend
      ? orDemo(environment['LOAD_TOKEN'], demo?.superUser.token, 'LOAD_TOKEN')
      : orDemo(environment['LOAD_APP_TOKEN'], demo?.apiUser.token, 'LOAD_APP_TOKEN'),
    audienceMax: numberOf(values['audience-max'], '--audience-max', 1_000_000_000) ?? 1_000,
    keepsDevices: values.keep === true,
    folder: resolve(values.out ?? 'load-report'),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        url: { type: 'string' },
        profile: { type: 'string' },
        seconds: { type: 'string' },
        connections: { type: 'string' },
        rate: { type: 'string' },
        app: { type: 'string' },
        platform: { type: 'string' },
        tags: { type: 'string' },
        client: { type: 'string' },
        'audience-max': { type: 'string' },
        keep: { type: 'boolean' },
        remote: { type: 'boolean' },
        out: { type: 'string' },
        demo: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

const DIGITS = /^\d+$/;

/** Null: not given. */
function numberOf(text: string | undefined, name: string, max: number): number | null {
  if (text === undefined) return null;
  const value = DIGITS.test(text) ? Number(text) : Number.NaN;
  if (value >= 1 && value <= max) return value;
  throw new UsageError(`${name}: a whole number from 1 to ${max}, not ${text}.`);
}

function tagsOf(text: string | undefined): readonly number[] | undefined {
  return text?.split(',').map((id) => numberOf(id, '--tags', 2 ** 31 - 1) ?? 0);
}

function readDemo(path: string): z.infer<typeof demoSchema> | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
  return demoSchema.parse(JSON.parse(text));
}

const LAST_SLASH = /\/$/;
const LOOPBACK = /^(127\.|::1$)/;
const HTTP = /^https?:$/;
const BRACKETS = /^\[|\]$/g;

/** A load on somebody else's machine must be meant. */
async function checkAddress(address: string, isRemoteAllowed: boolean): Promise<void> {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !HTTP.test(url.protocol)) {
    throw new UsageError(`--url: an http or https address, not ${address}.`);
  }
  if (isRemoteAllowed) return;
  const found = await lookup(url.hostname.replace(BRACKETS, ''), { all: true }).catch(() => []);
  if (found.length > 0 && found.every((one) => LOOPBACK.test(one.address))) return;
  throw new UsageError(`${url.host} is not this machine: if you may load it, say --remote.`);
}
