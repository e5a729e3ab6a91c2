/**
 * Airship's channels, as its API lists them (GET /api/channels,
 * https://docs.airship.com/api/ua/#operation-api-channels-get): the pages `{"channels": […]}`, one
 * after the other, or single channels. A channel has its token in `push_address`, `device_type`,
 * `opt_in`, `installed`, `tags`, `tag_groups`, `attributes`, and in `device_attributes` what its
 * SDK says of the device: `ua_language`, `ua_country`, `ua_local_tz`, `ua_app_version`,
 * `ua_device_os`.
 */

import { isObject } from '../../std/src/json.ts';
import type { PlatformId } from '../../std/src/platforms.ts';
import { PLATFORMS } from '../../std/src/platforms.ts';
import { knownTexts } from './file-attributes.ts';
import type { Entry, FileTag } from './file-device.ts';
import { checkDevice, textTag } from './file-device.ts';
import type { Format, RecordReader } from './format.ts';
import { readObject } from './format.ts';
import { ObjectSplitter } from './object-splitter.ts';
import { subscriptionText } from './web-push-subscription.ts';

export const airshipFormat: Format = {
  createSplitter: () => new ObjectSplitter(),
  createReader: (): RecordReader => ({
    read: (records) =>
      records.flatMap((record) =>
        record.kind === 'fault' ? [record] : readRecord(record.line, record.text),
      ),
    end: () => [],
  }),
};

/** A page of channels, the answer of a look-up, or a channel. */
function readRecord(line: number, text: string): readonly Entry[] {
  const fields = readObject(text);
  if (fields === null) return [{ kind: 'fault', line, sentence: 'is not a JSON object.' }];
  const { channels, channel } = fields;
  if (Array.isArray(channels)) return channels.map((each) => readChannel(line, each));
  return [readChannel(line, channel ?? fields)];
}

const BY_TYPE: ReadonlyMap<unknown, PlatformId> = new Map([
  ['ios', PLATFORMS.apns],
  ['android', PLATFORMS.fcm],
  ['web', PLATFORMS.webpush],
]);

function readChannel(line: number, channel: unknown): Entry {
  if (!isObject(channel))
    return { kind: 'fault', line, sentence: 'has a channel that is no object.' };
  const { push_address: token, device_type: type, opt_in: optIn, installed } = channel;
  const platformId = BY_TYPE.get(type) ?? null;
  const passed = (reason: string): Entry => ({ kind: 'passed', line, platformId, reason });
  if (platformId === null) return passed('of a kind that is not pushed to (device_type)');
  if (typeof token !== 'string' || token === '') return passed('without a token');
  if (installed === false) return passed('uninstalled (installed)');
  if (optIn === false) return passed('opted out (opt_in)');
  const common = {
    platformId,
    registeredAt: timeOf(channel),
    tags: tagsOf(channel),
    ...factsOf(channel),
  };
  if (platformId !== PLATFORMS.webpush) return checkDevice(line, { ...common, deviceId: token });
  const { auth, p256dh } = subscriptionOf(channel);
  if (typeof auth !== 'string' || typeof p256dh !== 'string') {
    return passed('without web.subscription');
  }
  return checkDevice(line, {
    ...common,
    deviceId: subscriptionText({ endpoint: token, p256dh, auth }),
  });
}

type Channel = Readonly<Record<string, unknown>>;

/** In UTC, and written without a zone. Of some channels it is no time. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/;

const timeOf = ({ last_registration: text }: Channel): unknown =>
  typeof text === 'string' && TIME.test(text) ? `${text}Z` : null;

const factsOf = ({ device_attributes: said, attributes, ios }: Channel) => {
  const facts = isObject(said) ? said : {};
  const tz = isObject(ios) ? ios['tz'] : undefined;
  return {
    appVersion: facts['ua_app_version'],
    attributes: knownTexts({
      language: facts['ua_language'],
      country: facts['ua_country'],
      timezone: facts['ua_local_tz'] ?? tz,
      osVersion: facts['ua_device_os'],
    }),
    ...propertiesOf(isObject(attributes) ? attributes : {}),
  };
};

const OF_JSON = 'attributes that hold JSON: only texts and numbers can be taken';

function propertiesOf(attributes: Channel) {
  const all = Object.entries(attributes).filter(([, value]) => value !== null);
  const plain = all.filter(([, value]) => typeof value !== 'object');
  return {
    properties: Object.fromEntries(plain),
    unusable: plain.length === all.length ? [] : [OF_JSON],
  };
}

/** Groups of Airship's own, with what its SDK says of the device. */
const INTERNAL = /^ua_/;
const DEVICE_GROUP = 'device';

/** `vip` of the device is `vip`; `gold` of the group `loyalty` is `loyalty:gold`. */
function tagsOf({ tags, tag_groups: groups }: Channel): readonly FileTag[] {
  const names = new Set<string>(Array.isArray(tags) ? tags.map(String) : []);
  for (const [group, values] of Object.entries(isObject(groups) ? groups : {})) {
    if (INTERNAL.test(group) || !Array.isArray(values)) continue;
    for (const value of values)
      names.add(group === DEVICE_GROUP ? String(value) : `${group}:${value}`);
  }
  names.delete('');
  return [...names].map(textTag);
}

function subscriptionOf({ web }: Channel): Channel {
  const subscription = isObject(web) ? web['subscription'] : null;
  return isObject(subscription) ? subscription : {};
}
