/**
 * OneSignal's "Export subscriptions CSV"
 * (https://documentation.onesignal.com/reference/csv-export): one line a subscription, with the
 * columns `identifier` (the token), `device_type`, `tags` (a JSON object), `game_version`,
 * `last_active` (epoch seconds), `language`, `device_os`, and `invalid_identifier` (`t` or `f`).
 * Web Push needs the extra fields `web_auth` and `web_p256`; `country` and `timezone_id` are extra
 * fields, too. The extra field `notification_types`, or a column `subscribed`, says who has opted
 * out.
 */

import { isoTimeMs } from '../../std/src/iso-8601.ts';
import { changedNumbers } from '../../std/src/json-numbers.ts';
import type { PlatformId } from '../../std/src/platforms.ts';
import { PLATFORMS } from '../../std/src/platforms.ts';
import type { Columns } from './csv-head.ts';
import { CsvSplitter } from './csv-splitter.ts';
import type { Row } from './csv-table.ts';
import { tableReader } from './csv-table.ts';
import type { FileAttributes } from './file-attributes.ts';
import { knownTexts, NO_ATTRIBUTES } from './file-attributes.ts';
import type { Entry, FileTag } from './file-device.ts';
import { checkDevice, textTag } from './file-device.ts';
import type { Format } from './format.ts';
import { readObject } from './format.ts';
import { subscriptionText } from './web-push-subscription.ts';

export const ONESIGNAL_COLUMNS: Columns = {
  needed: ['identifier', 'device_type'],
  others: [
    ...['tags', 'game_version', 'last_active', 'invalid_identifier', 'web_auth', 'web_p256'],
    ...['notification_types', 'subscribed'],
    ...['language', 'country', 'timezone', 'timezone_id', 'device_os'],
  ],
};

export const oneSignalFormat: Format = {
  createSplitter: () => new CsvSplitter(),
  createReader: () => tableReader(ONESIGNAL_COLUMNS, readRow),
};

const WEB = PLATFORMS.webpush;
/** Web Push has Chrome, Firefox, Safari; 7 is Safari's older way, which is not Web Push. */
const BY_TYPE: ReadonlyMap<string | undefined, PlatformId> = new Map([
  ['0', PLATFORMS.apns],
  ['1', PLATFORMS.fcm],
  ...['5', '8', '17'].map((type) => [type, WEB] as const),
]);
const platformOf = (type: string | undefined): PlatformId | null => BY_TYPE.get(type) ?? null;

/** 0: the person has switched notifications off; below: the app has, or it never got a token. */
const SUBSCRIBED_TO_NOTHING = 0;

function readRow(line: number, row: Row): Entry {
  const { identifier = '', device_type: type } = row;
  const platformId = platformOf(type);
  const passed = (reason: string): Entry => ({ kind: 'passed', line, platformId, reason });
  if (identifier === '') return passed('without a token');
  if (platformId === null) return passed('of a kind that is not pushed to (device_type)');
  const optedOut = optOutOf(row);
  if (optedOut !== null) return passed(optedOut);
  const read = readTags(row['tags'] ?? '');
  if (typeof read === 'string') return { kind: 'fault', line, sentence: read };
  const common = {
    platformId,
    appVersion: row['game_version'],
    registeredAt: timeOf(row),
    ...read,
    ...attributesOf(row, platformId),
  };
  if (platformId !== WEB) return checkDevice(line, { ...common, deviceId: identifier });
  const { web_auth: auth = '', web_p256: p256dh = '' } = row;
  if (auth === '' || p256dh === '') return passed('without web_auth and web_p256');
  const deviceId = subscriptionText({ endpoint: identifier, p256dh, auth });
  return checkDevice(line, { ...common, deviceId });
}

const WITHOUT_ZONE =
  'timezone: seconds from UTC are no time zone (export with the extra field timezone_id)';
const BROWSER_VERSION = 'device_os of browsers: it is the version of the browser';

/** OneSignal finds out the country by the address of the device. */
function attributesOf(row: Row, platformId: PlatformId) {
  const { language, country, timezone = '', timezone_id: zone = '', device_os: os = '' } = row;
  const osVersion = platformId === WEB ? '' : os;
  const unusable: string[] = [];
  if (timezone !== '' && zone === '') unusable.push(WITHOUT_ZONE);
  if (osVersion !== os) unusable.push(BROWSER_VERSION);
  return { attributes: knownTexts({ language, country, timezone: zone, osVersion }), unusable };
}

/** Why OneSignal sends nothing to it; null: it does. */
function optOutOf(row: Row): string | null {
  if (isYes(row['invalid_identifier'])) return 'unsubscribed (invalid_identifier)';
  if (isNo(row['subscribed'])) return 'opted out (subscribed)';
  const types = row['notification_types'] ?? '';
  return types !== '' && Number(types) <= SUBSCRIBED_TO_NOTHING
    ? 'opted out (notification_types)'
    : null;
}

const isYes = (text = ''): boolean => ['t', 'true', 'yes', '1'].includes(text.toLowerCase());
const isNo = (text = ''): boolean => ['f', 'false', 'no', '0'].includes(text.toLowerCase());

const EPOCH_SECONDS = /^\d{1,11}(\.\d+)?$/;
const IN_UTC = / ?UTC$/;

/** Seconds; some exports have text such as `2024-11-10 08:00:00 UTC` in their place. */
function timeOf({ last_active: text = '' }: Row): unknown {
  if (EPOCH_SECONDS.test(text)) return Math.floor(Number(text) * 1_000);
  return isoTimeMs(text.replace(' ', 'T').replace(IN_UTC, 'Z'));
}

const YES: ReadonlySet<string> = new Set(['1', 'true', 'yes']);
const NO: ReadonlySet<string> = new Set(['', '0', 'false', 'no']);

interface Tags {
  readonly tags: readonly FileTag[];
  /** The pairs, of which an import may make attributes. */
  readonly properties: FileAttributes;
}

const NO_TAGS: Tags = { tags: [], properties: NO_ATTRIBUTES };

/**
 * A tag of OneSignal is a pair. `{"tennis":"1"}` is tennis, `{"tennis":"0"}` is not,
 * `{"plan":"pro"}` is `plan:pro`. A sentence: what is wrong with them.
 */
function readTags(text: string): Tags | string {
  // Made by PHP, an object without tags is a list.
  if (text === '' || text === '[]') return NO_TAGS;
  const pairs = readObject(text);
  if (pairs === null) return 'tags must be a JSON object.';
  const [changed] = changedNumbers(text);
  if (changed !== undefined) return `the tag ${changed.path} ${changed.message}.`;
  const properties: Record<string, string> = Object.create(null);
  const tags = Object.entries(pairs).flatMap(([key, value]) => {
    const word = String(value ?? '').toLowerCase();
    if (key !== '' && word !== '') properties[key] = String(value);
    if (key === '' || NO.has(word)) return [];
    return textTag(YES.has(word) ? key : `${key}:${String(value)}`);
  });
  return { tags, properties };
}
