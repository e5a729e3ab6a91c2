/**
 * OneSignal's "Export subscriptions CSV"
 * (https://documentation.onesignal.com/reference/csv-export): one line a subscription, with the
 * columns `identifier` (the token), `device_type`, `tags` (a JSON object), `game_version`,
 * `last_active` (epoch seconds) and `invalid_identifier` (`t` or `f`). Web Push needs the extra
 * fields `web_auth` and `web_p256`.
 */

import { isoTimeMs } from '../../std/src/iso-8601.ts';
import { changedNumbers } from '../../std/src/json-numbers.ts';
import { CsvSplitter } from './csv-splitter.ts';
import type { Row } from './csv-table.ts';
import { tableReader } from './csv-table.ts';
import type { Entry, FileTag } from './file-device.ts';
import { checkDevice, textTag } from './file-device.ts';
import type { Format } from './format.ts';
import { readObject } from './format.ts';
import { subscriptionText } from './web-push-subscription.ts';

const COLUMNS = {
  needed: ['identifier', 'device_type'],
  others: ['tags', 'game_version', 'last_active', 'invalid_identifier', 'web_auth', 'web_p256'],
};

export const oneSignalFormat: Format = {
  createSplitter: () => new CsvSplitter(),
  createReader: () => tableReader(COLUMNS, readRow),
};

const IOS = '0';
const ANDROID = '1';
/** Chrome, Firefox, Safari; 7 is Safari's older way, which is not Web Push. */
const WEB_PUSH: ReadonlySet<string | undefined> = new Set(['5', '8', '17']);

function readRow(line: number, row: Row): Entry {
  const passed = (reason: string): Entry => ({ kind: 'passed', line, reason });
  const { identifier = '', device_type: type } = row;
  if (identifier === '') return passed('without a token');
  if (isTrue(row['invalid_identifier'])) return passed('unsubscribed (invalid_identifier)');
  const tags = readTags(row['tags'] ?? '');
  if (typeof tags === 'string') return { kind: 'fault', line, sentence: tags };
  const common = { appVersion: row['game_version'], registeredAt: timeOf(row), tags };
  if (type === IOS) return checkDevice(line, { ...common, platformId: 3, deviceId: identifier });
  if (type === ANDROID) {
    return checkDevice(line, { ...common, platformId: 15, deviceId: identifier });
  }
  if (!WEB_PUSH.has(type)) return passed('of a kind that is not pushed to (device_type)');
  const { web_auth: auth = '', web_p256: p256dh = '' } = row;
  if (auth === '' || p256dh === '') return passed('browsers without web_auth and web_p256');
  const deviceId = subscriptionText({ endpoint: identifier, p256dh, auth });
  return checkDevice(line, { ...common, platformId: 7, deviceId });
}

const isTrue = (text: string | undefined): boolean => text === 't' || text === 'true';

const EPOCH_SECONDS = /^\d{1,11}(\.\d+)?$/;
const IN_UTC = / ?UTC$/;

/** Seconds; some exports have text such as `2024-11-10 08:00:00 UTC` in their place. */
function timeOf({ last_active: text = '' }: Row): unknown {
  if (EPOCH_SECONDS.test(text)) return Math.floor(Number(text) * 1_000);
  return isoTimeMs(text.replace(' ', 'T').replace(IN_UTC, 'Z'));
}

const YES: ReadonlySet<string> = new Set(['1', 'true', 'yes']);
const NO: ReadonlySet<string> = new Set(['', '0', 'false', 'no']);

/**
 * A tag of OneSignal is a pair. `{"tennis":"1"}` is tennis, `{"tennis":"0"}` is not,
 * `{"plan":"pro"}` is `plan:pro`. A sentence: what is wrong with them.
 */
function readTags(text: string): readonly FileTag[] | string {
  // Made by PHP, an object without tags is a list.
  if (text === '' || text === '[]') return [];
  const pairs = readObject(text);
  if (pairs === null) return 'tags must be a JSON object.';
  const [changed] = changedNumbers(text);
  if (changed !== undefined) return `the tag ${changed.path} ${changed.message}.`;
  return Object.entries(pairs).flatMap(([key, value]) => {
    const word = String(value ?? '').toLowerCase();
    if (key === '' || NO.has(word)) return [];
    return textTag(YES.has(word) ? key : `${key}:${String(value)}`);
  });
}
