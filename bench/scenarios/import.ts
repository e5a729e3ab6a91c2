/**
 * `tagcast devices import` of a million devices with three tags each, and the export of them,
 * straight to PostgreSQL.
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FormatName } from '../../packages/device-files/src/formats.ts';
import { FORMAT_NAMES } from '../../packages/device-files/src/formats.ts';
import type { Lifetime } from '../../test/support/lifetime.ts';
import { MAIN, runCommand } from '../../test/support/processes.ts';
import { temporaryDirectory } from '../../test/support/temporary-directory.ts';
import type { Row, Scenario } from '../scenario.ts';
import { benchStores } from '../stores.ts';

/**
 * The formats of our own with a million, those of others with fewer: what differs is reading only.
 */
const DEVICES: Readonly<Record<FormatName, number>> = {
  csv: 1_000_000,
  ndjson: 1_000_000,
  onesignal: 200_000,
  airship: 150_000,
  aerogear: 200_000,
  azure: 200_000,
};
const TAGS = ['tennis', 'football-goals', 'breaking-news'];
/** Lines written in one call. */
const BLOCK_LINES = 10_000;

/** Matches the output of `app add`. */
const ADDED = /App (\d+)/;

type Environment = Readonly<Record<string, string>>;

export const importing: Scenario = {
  summary: 'devices with 3 tags each from a file to PostgreSQL, fsync on, and out again',
  async run(stage) {
    const rows: Row[] = [];
    const postgres = (await benchStores(stage)).find(({ name }) => name === 'postgres');
    if (postgres === undefined) return { rows };
    const directory = temporaryDirectory(stage);
    const environment = { ...postgres.environment, DATA_DIR: directory };
    await command(stage, ['client', 'add', 'bench'], environment);
    for (const format of FORMAT_NAMES) {
      const app = await addApp(stage, environment);
      const devices = DEVICES[format];
      const file = join(directory, `devices.${format}`);
      writeDevices(file, format, devices);
      const imports = ['devices', 'import', app, file, '--format', format, '--create-tags'];
      rows.push({
        what: 'import',
        format,
        ...(await measure(stage, imports, environment, devices)),
      });
      if (format !== 'csv' && format !== 'ndjson') continue;
      const again = await measure(stage, imports, environment, devices);
      rows.push({ what: 'the same again', format, ...again });
      const out = [
        'devices',
        'export',
        app,
        '--format',
        format,
        '--output',
        join(directory, `out.${format}`),
      ];
      rows.push({ what: 'export', format, ...(await measure(stage, out, environment, devices)) });
    }
    return { rows };
  },
};

async function command(
  stage: Lifetime,
  args: readonly string[],
  environment: Environment,
): Promise<string> {
  const { code, output } = await runCommand(stage, args, environment);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${output}`);
  return output;
}

async function addApp(stage: Lifetime, environment: Environment): Promise<string> {
  const added = await command(
    stage,
    ['app', 'add', 'bench', 'App', '--platform=3', '--platform=15'],
    environment,
  );
  return ADDED.exec(added)?.[1] ?? '';
}

/**
 * Wall time with the start of the process; CPU and memory of the command alone, the database's not
 * counted.
 */
async function measure(
  stage: Lifetime,
  args: readonly string[],
  environment: Environment,
  devices: number,
): Promise<Row> {
  const usage = join(temporaryDirectory(stage), 'usage.json');
  const reporter = `data:text/javascript,${encodeURIComponent(reportUsage(usage))}`;
  const startedAtMs = performance.now();
  const child = spawn(process.execPath, ['--import', reporter, MAIN, ...args], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  stage.teardown(() => child.kill('SIGKILL'));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const used = JSON.parse(readFileSync(usage, 'utf8')) as {
    readonly cpuMicros: number;
    readonly maxRssKb: number;
  };
  return {
    devices,
    seconds,
    devicesPerSecond: Math.round(devices / seconds),
    cpuMicrosEach: used.cpuMicros / devices,
    rssMbMax: Math.round(used.maxRssKb / 1_024),
  };
}

/** Code that the command's process runs beside the command. */
const reportUsage = (path: string): string => `
  import { writeFileSync } from 'node:fs';
  process.on('exit', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    writeFileSync(${JSON.stringify(path)}, JSON.stringify({ cpuMicros: userCPUTime + systemCPUTime, maxRssKb: maxRSS }));
  });`;

function writeDevices(path: string, format: FormatName, count: number): void {
  const file = openSync(path, 'w');
  const { head, line, between, end } = SHAPES[format];
  writeSync(file, head);
  for (let start = 0; start < count; start += BLOCK_LINES) {
    const lines = Array.from({ length: Math.min(BLOCK_LINES, count - start) }, () =>
      line(randomBytes(32).toString('hex')),
    );
    writeSync(file, (start === 0 ? '' : between) + lines.join(between));
  }
  writeSync(file, end);
  closeSync(file);
}

interface Shape {
  readonly head: string;
  line(token: string): string;
  readonly between: string;
  readonly end: string;
}

const doubled = (json: string): string => `"${json.replaceAll('"', '""')}"`;
const tagObjects = JSON.stringify(TAGS.map((sourceId) => ({ sourceId, name: sourceId })));
const pairs = JSON.stringify(Object.fromEntries(TAGS.map((tag) => [tag, '1'])));
const lines = { between: '\n', end: '\n' };

const SHAPES: Readonly<Record<FormatName, Shape>> = {
  csv: {
    ...lines,
    head: 'platformId,deviceId,appVersion,registeredAt,tags\n',
    line: (token) => `3,${token},3.2.0,2026-01-02T03:04:05.678Z,${doubled(tagObjects)}`,
  },
  ndjson: {
    ...lines,
    head: '',
    line: (token) =>
      `{"platformId":3,"deviceId":"${token}","appVersion":"3.2.0","registeredAt":"2026-01-02T03:04:05.678Z","tags":${tagObjects}}`,
  },
  onesignal: {
    ...lines,
    head: 'id,identifier,session_count,language,timezone,game_version,device_os,device_type,device_model,ad_id,tags,last_active,playtime,amount_spent,created_at,invalid_identifier,badge_count\n',
    line: (token) =>
      `0a1b2c3d-0000-4000-8000-${token.slice(0, 12)},${token},12,en,-25200,3.2.0,17.4,0,"iPhone15,2",,${doubled(pairs)},1756800000,0,0,1700000000,f,0`,
  },
  airship: {
    head: '[',
    between: ',',
    end: ']',
    line: (token) =>
      JSON.stringify({
        channel_id: `0a1b2c3d-0000-4000-8000-${token.slice(0, 12)}`,
        device_type: 'ios',
        push_address: token,
        installed: true,
        opt_in: true,
        tags: TAGS,
        tag_groups: { ua_channel_type: ['ios'] },
        device_attributes: { ua_language: 'de', ua_country: 'CH', ua_local_tz: 'Europe/Zurich' },
        attributes: {},
        last_registration: '2026-01-02T03:04:05',
      }),
  },
  aerogear: {
    head: '[',
    between: ',',
    end: ']',
    line: (token) =>
      JSON.stringify({
        id: token.slice(0, 32),
        enabled: true,
        deviceToken: token,
        deviceType: 'iPhone',
        operatingSystem: 'iOS',
        osVersion: '17.4',
        alias: `user-${token.slice(0, 8)}`,
        categories: TAGS,
        platform: 'ios',
      }),
  },
  azure: {
    ...lines,
    head: '',
    line: (token) =>
      `<AppleRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime><RegistrationId>${token.slice(0, 19)}-2</RegistrationId><Tags>${TAGS.join(',')}</Tags><DeviceToken>${token}</DeviceToken></AppleRegistrationDescription>`,
  },
};
