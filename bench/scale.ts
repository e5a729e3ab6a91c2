/**
 * How much of everything a number of devices needs, from what the benches measured on this machine
 * (bench/results): the worked example of docs/operate/scale.md.
 *
 *     npm run scale -- --devices 100000000 --tags 20 --apns 0.5 --registrations-a-day 1 --nodes 8
 *
 * Each line says what it is made of. What no bench has measured yet says which one would.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printTable } from './report.ts';
import type { Row } from './scenario.ts';

const RESULTS = join(import.meta.dirname, '..', '..', 'bench', 'results');

/** Devices in a group (domain/device.ts). */
const GROUP_DEVICES = 8_192;
/** Google's quota of a project, a minute (docs/operate/configure.md). */
const FCM_PER_MINUTE = 600_000;
/** An hour in which registrations come at three times the mean: what a day's peak is taken for. */
const PEAK = 3;
/**
 * The share of a Redis node's memory that may be data: the rest is for its buffers, and for growth.
 */
const REDIS_SHARE = 0.6;
const REDIS_NODE_GB = 16;
/** The names in the rows of `sizing`. */
const APNS = 'APNs, 64 digits';
const FCM = 'FCM, 142 characters';
const SIZED_TAGS = 20;
const TAG_ID_BYTES = 4;
/** 142 characters in place of 32 bytes. */
const FCM_TOKEN_MORE = 110;
const GB = 1e9;
const DAY_SECONDS = 86_400;

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '100000000' },
    tags: { type: 'string', default: '20' },
    apns: { type: 'string', default: '0.5' },
    'registrations-a-day': { type: 'string', default: '1' },
    nodes: { type: 'string', default: '8' },
  },
});
const devices = Number(values.devices);
const tags = Number(values.tags);
const apns = devices * Number(values.apns);
const fcm = devices - apns;
const registrations = devices * Number(values['registrations-a-day']);
const nodes = Number(values.nodes);
const subscriptions = devices * tags;

const lines: Row[] = [
  line('subscriptions', subscriptions, `${count(devices)} devices × ${tags}`),
  line('groups', Math.ceil(devices / GROUP_DEVICES), `devices ÷ ${count(GROUP_DEVICES)}`),
  ...postgres(),
  ...redis(),
  ...registering(),
  ...sending(),
];
printTable(lines);

/**
 * With as many tags as `sizing` gives a device: of another number each has its four bytes in the
 * row, or has not.
 */
function postgres(): readonly Row[] {
  const writtenAgain = (token: string) =>
    `device with ${SIZED_TAGS} tags, written again (${token})`;
  const more = (tags - SIZED_TAGS) * TAG_ID_BYTES;
  const apnsBytes = sizeOf(writtenAgain(APNS), 'bytes') + more;
  const fcmBytes = sizeOf(writtenAgain(FCM), 'bytes') + more;
  const indexBytes = sizeOf(writtenAgain(APNS), 'indexBytes');
  const repetition = sizeOf(`registration that changes nothing (${APNS})`, 'logBytes');
  const refresh = sizeOf(
    `the same, the first after REGISTRATION_REFRESH_HOURS (${APNS})`,
    'logBytes',
  );
  // At most once a day, as REGISTRATION_REFRESH_HOURS has it.
  const refreshes = Math.min(registrations, devices);
  const logGb = (refreshes * refresh + (registrations - refreshes) * repetition) / GB;
  return [
    line(
      'PostgreSQL: devices with their tags, GB',
      (apns * apnsBytes + fcm * fcmBytes) / GB,
      `${show(apnsBytes)} and ${show(fcmBytes)} bytes each`,
    ),
    line('– of them, indexes, GB', (devices * indexBytes) / GB, `${show(indexBytes)} bytes each`),
    line(
      'PostgreSQL: log a day, GB',
      logGb,
      `${show(refresh)} bytes for the first registration of a device's day, ${show(repetition)} for each that repeats it`,
    ),
  ];
}

/** The mix that `sizing` has too: 20 of 100 tags a device, by Zipf. */
function redis(): readonly Row[] {
  const perDevice = read('index')?.['bytesPerApnsDevice'];
  const mix = rowsOf('index').find(
    (row) => row['layout'] === 'ours' && String(row['audience']).startsWith('mix'),
  );
  const perDeviceOfMix = mix?.['bytesPerDevice'];
  const withTokens = mix?.['bytesPerSubscription'];
  if (
    typeof perDevice !== 'number' ||
    typeof perDeviceOfMix !== 'number' ||
    typeof withTokens !== 'number'
  ) {
    return [line('Redis, GB', null, 'not measured: npm run bench -- index')];
  }
  // The mix's bytes have the tokens in them, which are counted by device here.
  const perSubscription = withTokens * (1 - perDevice / perDeviceOfMix);
  const octets = devices * perDevice + fcm * FCM_TOKEN_MORE + subscriptions * perSubscription;
  return [
    line(
      'Redis, GB',
      octets / GB,
      `${show(perDevice)} bytes an APNs device, ${FCM_TOKEN_MORE} more for FCM's longer token, ${show(perSubscription)} a subscription`,
    ),
    line(
      `Redis nodes of ${REDIS_NODE_GB} GB`,
      Math.ceil(octets / GB / (REDIS_NODE_GB * REDIS_SHARE)),
      `filled to ${REDIS_SHARE * 100} %`,
    ),
    ...filling(),
  ];
}

/** From nothing, as after FLUSHALL; sends go on from PostgreSQL meanwhile. */
function filling(): readonly Row[] {
  const rate = read('recover')?.['rebuildPerSecond'];
  if (typeof rate !== 'number') return [];
  return [line('filling the index, min', devices / rate / 60, `${count(rate)} a second (recover)`)];
}

function registering(): readonly Row[] {
  const measured = rowsOf('register')
    .filter((row) => row['server'] === 'ours' && row['kind'] === 'mix')
    .map((row) => Number(row['perSecond']));
  const rate = Math.max(...measured);
  const wanted = (registrations / DAY_SECONDS) * PEAK;
  return [
    line('registrations a second at the peak', wanted, `${count(registrations)} a day, × ${PEAK}`),
    measured.length === 0
      ? line('nodes that it takes', null, 'not measured: npm run bench -- register')
      : line(
          'nodes that it takes',
          Math.ceil(wanted / rate),
          `one takes ${count(rate)} a second (register)`,
        ),
  ];
}

function sending(): readonly Row[] {
  const rates = rowsOf('fan-out')
    .filter((row) => row['client'] === 'tagcast')
    .map((row) => Number(row['devicesPerSecond']));
  if (rates.length === 0)
    return [line('send to all', null, 'not measured: npm run bench -- fan-out')];
  const rate = Math.max(...rates);
  return [
    line(
      'send to all APNs devices, s',
      apns / (rate * nodes),
      `${nodes} nodes, each ${count(rate)} a second (fan-out)`,
    ),
    line('send to all FCM devices, s', fcm / (rate * nodes), 'the same, were there no quota'),
    line(
      '– by one project, min',
      fcm / FCM_PER_MINUTE,
      `Google's quota, ${count(FCM_PER_MINUTE)} a minute`,
    ),
  ];
}

function line(what: string, value: number | null, from: string): Row {
  return { what, value, from };
}

function sizeOf(what: string, column: string): number {
  const value = rowsOf('sizing').find((row) => row['what'] === what)?.[column];
  if (typeof value !== 'number') throw new Error(`not measured: npm run bench -- sizing (${what})`);
  return value;
}

function rowsOf(name: string): readonly Row[] {
  return (read(name)?.['rows'] ?? []) as readonly Row[];
}

function read(name: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(readFileSync(join(RESULTS, `${name}.json`), 'utf8')) as Record<
      string,
      unknown
    >;
  } catch {
    return null;
  }
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function show(value: number): string {
  return value.toFixed(value < 10 ? 1 : 0);
}
