/** Devices as lines of our own formats, for `tagcast devices export`. */

import type { Attributes } from './field-rules.ts';
import { ATTRIBUTE_NAMES } from './field-rules.ts';

/** A device with all data that another engine needs. */
interface ExportedDevice extends Attributes<string | null> {
  readonly platformId: number;
  readonly deviceId: string;
  readonly registeredAtMs: number;
  /** Each as JSON: `{"sourceId","id","name"}`. */
  readonly tags: readonly string[];
}

export interface DeviceWriter {
  /** The first line of a file; '': none. */
  readonly head: string;
  /** One device, with its line's end. */
  line(device: ExportedDevice): string;
}

export const csvWriter: DeviceWriter = {
  head: `platformId,deviceId,${ATTRIBUTE_NAMES.join(',')},registeredAt,tags\n`,
  line({ platformId, deviceId, registeredAtMs, tags, ...attributes }) {
    const values = ATTRIBUTE_NAMES.map((name) => quoted(attributes[name] ?? '')).join(',');
    const registeredAt = new Date(registeredAtMs).toISOString();
    return `${platformId},${quoted(deviceId)},${values},${registeredAt},${quoted(`[${tags.join(',')}]`)}\n`;
  },
};

export const ndjsonWriter: DeviceWriter = {
  head: '',
  line({ platformId, deviceId, registeredAtMs, tags, ...attributes }) {
    const known = ATTRIBUTE_NAMES.map((name) => {
      const value = attributes[name];
      return value === null ? '' : `,"${name}":${JSON.stringify(value)}`;
    }).join('');
    const registeredAt = new Date(registeredAtMs).toISOString();
    return `{"platformId":${platformId},"deviceId":${JSON.stringify(deviceId)}${known},"registeredAt":"${registeredAt}","tags":[${tags.join(',')}]}\n`;
  },
};

/** Characters that need quotes in a CSV field. Some programs drop white space at its ends. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** RFC 4180: quotes around, quotes inside doubled. */
const quoted = (text: string): string =>
  NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
