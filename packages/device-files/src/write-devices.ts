/** Devices as lines of our own formats, for `tagcast devices export`. */

import type { Attributes } from './field-rules.ts';
import { ATTRIBUTE_NAMES } from './field-rules.ts';
import type { FileAttributes } from './file-attributes.ts';

/** A device with all that its engine knows of it. Others need nothing of what follows `tags`. */
interface ExportedDevice extends Attributes<string | null> {
  readonly platformId: number;
  readonly deviceId: string;
  readonly registeredAtMs: number;
  /** Each as JSON: `{"sourceId","id","name"}`. */
  readonly tags: readonly string[];
  readonly attributes: FileAttributes;
  /** The day of its first registration. */
  readonly firstRegisteredOn: string | null;
  /** Null: it has not unsubscribed since it last registered. */
  readonly unsubscribedAtMs: number | null;
  /** Sends that refused its token since one that did not. */
  readonly refusals: number;
  readonly refusedAtMs: number | null;
  /** The environment of APNs that took its token, when that is not the one that was asked first. */
  readonly environment: string | null;
}

type Fact = (typeof FACTS)[number];

/** In the order of FACTS. Null: it is not known, or, as zero refusals, nothing to say. */
const factsOf = (device: ExportedDevice): Readonly<Record<Fact, string | number | null>> => ({
  firstRegisteredOn: device.firstRegisteredOn,
  unsubscribedAt: device.unsubscribedAtMs === null ? null : timeOf(device.unsubscribedAtMs),
  refusals: device.refusals === 0 ? null : device.refusals,
  refusedAt: device.refusedAtMs === null ? null : timeOf(device.refusedAtMs),
  environment: device.environment,
});

const FACTS = [
  'firstRegisteredOn',
  'unsubscribedAt',
  'refusals',
  'refusedAt',
  'environment',
] as const;

export interface DeviceWriter {
  /** The first line of a file; '': none. */
  readonly head: string;
  /** One device, with its line's end. */
  line(device: ExportedDevice): string;
}

export const csvWriter: DeviceWriter = {
  head: `platformId,deviceId,${ATTRIBUTE_NAMES.join(',')},registeredAt,tags,attributes,${FACTS.join(',')}\n`,
  line(device) {
    const { platformId, deviceId, registeredAtMs, tags } = device;
    const values = ATTRIBUTE_NAMES.map((name) => quoted(device[name] ?? '')).join(',');
    const facts = Object.values(factsOf(device)).map((fact) => fact ?? '');
    const attributes = quoted(attributesText(device) ?? '');
    return `${platformId},${quoted(deviceId)},${values},${timeOf(registeredAtMs)},${quoted(`[${tags.join(',')}]`)},${attributes},${facts.join(',')}\n`;
  },
};

export const ndjsonWriter: DeviceWriter = {
  head: '',
  line(device) {
    const { platformId, deviceId, registeredAtMs, tags } = device;
    const known = ATTRIBUTE_NAMES.map((name) => fieldOf(name, device[name])).join('');
    const attributes = attributesText(device);
    const shown = attributes === null ? '' : `,"attributes":${attributes}`;
    const facts = FACTS.map((name) => fieldOf(name, factsOf(device)[name])).join('');
    return `{"platformId":${platformId},"deviceId":${JSON.stringify(deviceId)}${known},"registeredAt":"${timeOf(registeredAtMs)}","tags":[${tags.join(',')}]${shown}${facts}}\n`;
  },
};

/** The attributes as JSON; null: it has none. */
const attributesText = ({ attributes }: ExportedDevice): string | null =>
  Object.keys(attributes).length === 0 ? null : JSON.stringify(attributes);

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** A further field of an object; '': it is not known. */
const fieldOf = (name: string, value: string | number | null): string =>
  value === null ? '' : `,"${name}":${JSON.stringify(value)}`;

/** Characters that need quotes in a CSV field. Some programs drop white space at its ends. */
const NEEDS_QUOTES = /[",\r\n]|^\s|\s$/;

/** RFC 4180: quotes around, quotes inside doubled. */
const quoted = (text: string): string =>
  NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
