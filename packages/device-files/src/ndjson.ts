/**
 * Our own NDJSON: a device is a line
 * `{"platformId","deviceId","appVersion",…,"registeredAt","tags","attributes"}`.
 */

import type { Entry } from './file-device.ts';
import { checkDevice } from './file-device.ts';
import type { Format } from './format.ts';
import { eachRecord, readObject } from './format.ts';
import { LineSplitter } from './line-splitter.ts';

export const ndjsonFormat: Format = {
  createSplitter: () => new LineSplitter(),
  createReader: () => eachRecord(readLine),
};

function readLine(line: number, text: string): Entry | null {
  if (text.trim() === '') return null;
  const fields = readObject(text);
  if (fields === null) return { kind: 'fault', line, sentence: 'is not a JSON object.' };
  const { platformId, deviceId, registeredAt, tags } = fields;
  const ours = { platformId, deviceId, registeredAt, tags, properties: null, unusable: [] };
  return checkDevice(line, { ...fields, ...ours });
}
