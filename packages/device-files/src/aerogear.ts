/**
 * AeroGear UnifiedPush Server's export of a variant's installations (GET
 * rest/export/<variant-id>/installations): one JSON array of `{deviceToken, deviceType,
 * operatingSystem, osVersion, alias, enabled, categories}`. The REST API is described at
 * https://aerogear.org/docs/specs/aerogear-unifiedpush-rest/; the fields are those of the server's
 * class Installation. Aliases do not become tags: tags are not meant for single users. Web Push
 * variants keep a token of their own making, so their installations are skipped.
 */

import type { Entry, FileTag } from './file-device.ts';
import { checkDevice, textTag } from './file-device.ts';
import type { Format } from './format.ts';
import { eachRecord, readObject } from './format.ts';
import { ObjectSplitter } from './object-splitter.ts';

export const aeroGearFormat: Format = {
  createSplitter: () => new ObjectSplitter(),
  createReader: () => eachRecord(readInstallation),
};

function readInstallation(line: number, text: string): Entry {
  const fields = readObject(text);
  if (fields === null) return { kind: 'fault', line, sentence: 'is not a JSON object.' };
  const { deviceToken } = fields;
  if (typeof deviceToken !== 'string' || deviceToken === '') {
    return { kind: 'fault', line, sentence: 'deviceToken is missing.' };
  }
  const platformId = platformOf(fields, deviceToken);
  if (fields['enabled'] === false) return { kind: 'passed', line, platformId, reason: 'disabled' };
  const tags = readCategories(fields['categories']);
  if (tags === null)
    return { kind: 'fault', line, sentence: 'categories must be a list of names.' };
  if (platformId === null)
    return { kind: 'passed', line, platformId, reason: 'of another kind than iOS and Android' };
  return checkDevice(line, {
    platformId,
    deviceId: deviceToken,
    registeredAt: null,
    tags,
  });
}

const OTHER = /web|windows|wns|mpns|adm|simple|chrome|firefox|safari|mac/i;
const IOS = /^i(os|pad|phone|pod)/i;
const ANDROID = /android|phone|tablet/i;
/** 32 octets; a few tokens of Apple are longer. */
const APNS_TOKEN = /^([0-9a-f]{2}){32,100}$/i;
const URL_TOKEN = /^https?:/;

/** An installation does not always name its system. Then the form of its token decides. */
function platformOf(fields: Readonly<Record<string, unknown>>, token: string): number | null {
  if (URL_TOKEN.test(token)) return null;
  for (const name of ['platform', 'operatingSystem', 'deviceType']) {
    const value = fields[name];
    if (typeof value !== 'string') continue;
    if (OTHER.test(value)) return null;
    if (IOS.test(value)) return 3;
    if (ANDROID.test(value)) return 15;
  }
  return APNS_TOKEN.test(token) ? 3 : 15;
}

/** Names, or, from older versions of the server, objects with a name. */
function readCategories(value: unknown): readonly FileTag[] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return null;
  const tags: FileTag[] = [];
  for (const entry of value) {
    const name =
      typeof entry === 'object' && entry !== null && 'name' in entry ? entry.name : entry;
    if (typeof name !== 'string' || name === '') return null;
    tags.push(textTag(name));
  }
  return tags;
}
