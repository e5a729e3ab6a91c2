/** A device of a file, whatever its format, checked by the same rules as a registration. */

import { isoTimeMs } from '../../std/src/iso-8601.ts';
import { isObject } from '../../std/src/json.ts';
import { PLATFORM_CHOICE, platformNamed } from '../../std/src/platforms.ts';
import type { Attributes } from './field-rules.ts';
import {
  ATTRIBUTE_LENGTHS,
  DEVICE_ID_LENGTH_MAX,
  isId,
  isText,
  SOURCE_ID_LENGTH_MAX,
  TAG_NAME_LENGTH_MAX,
} from './field-rules.ts';
import type { FileAttributes } from './file-attributes.ts';
import { readAttributes } from './file-attributes.ts';

/** A tag as a file names it; null: not given. At least one of sourceId and id is present. */
export interface FileTag {
  readonly sourceId: string | null;
  readonly id: number | null;
  readonly name: string | null;
}

export interface FileDevice extends Attributes<string | null> {
  readonly platformId: number;
  readonly deviceId: string;
  /** When its app last registered it; null: the file does not say. */
  readonly registeredAtMs: number | null;
  readonly tags: readonly FileTag[];
  readonly attributes: FileAttributes;
  /** Values by names of its publisher in another engine: an import takes what it is asked for. */
  readonly properties: FileAttributes;
  /** Reasons why something of the file is on no device. A format has a few of them. */
  readonly unusable: readonly string[];
}

/** The result of reading one record of a file. */
export type Entry =
  | { readonly kind: 'device'; readonly line: number; readonly device: FileDevice }
  /** `sentence` says what is wrong with it. */
  | { readonly kind: 'fault'; readonly line: number; readonly sentence: string }
  /**
   * The record is valid but not for us. It is counted by its reason, of which a format has a few,
   * and by its platform. Null: the file does not say, or it is another one.
   */
  | {
      readonly kind: 'passed';
      readonly line: number;
      readonly platformId: number | null;
      readonly reason: string;
    };

/** The fields as they were read, before they are checked. */
interface FileFields extends Partial<Attributes<unknown>> {
  readonly platformId: unknown;
  readonly deviceId: unknown;
  readonly registeredAt: unknown;
  readonly tags: unknown;
  readonly attributes?: unknown;
  readonly properties?: unknown;
  readonly unusable?: readonly string[];
}

export function checkDevice(line: number, fields: FileFields): Entry {
  const fault = (sentence: string): Entry => ({ kind: 'fault', line, sentence });
  const { platformId: named } = fields;
  const platformId =
    typeof named === 'string' || typeof named === 'number' ? platformNamed(String(named)) : null;
  if (platformId === null) {
    return fault(`platformId must be ${PLATFORM_CHOICE}.`);
  }
  const { deviceId } = fields;
  if (!isText(deviceId, DEVICE_ID_LENGTH_MAX)) {
    return fault(`deviceId must be text of 1–${DEVICE_ID_LENGTH_MAX} characters.`);
  }
  const facts: Partial<Record<keyof Attributes<unknown>, string | null>> = {};
  for (const [name, lengthMax] of ATTRIBUTE_LENGTHS) {
    const value = readAttribute(fields[name], lengthMax);
    if (value === undefined)
      return fault(`${name} must be text of ${lengthMax} characters at most.`);
    facts[name] = value;
  }
  const registeredAtMs = readTime(fields.registeredAt);
  if (registeredAtMs === undefined) {
    return fault(
      'registeredAt must be a date in ISO 8601 with a time zone, or epoch milliseconds.',
    );
  }
  const tags = readTags(fields.tags);
  if (tags === null) {
    return fault('tags must be a list of sourceIds, ids, or objects with sourceId or id.');
  }
  const attributes = readAttributes(fields.attributes);
  if (typeof attributes === 'string') return fault(attributes);
  const properties = readAttributes(fields.properties);
  if (typeof properties === 'string') return fault(`has properties whose ${properties}`);
  const { unusable = NONE } = fields;
  return {
    kind: 'device',
    line,
    device: {
      ...(facts as Attributes<string | null>),
      ...{ platformId, deviceId, registeredAtMs, tags, attributes, properties, unusable },
    },
  };
}

const NONE: readonly string[] = [];

/** A tag that is known only by its text, as in other engines. */
export const textTag = (text: string): FileTag => ({ sourceId: text, id: null, name: text });

const DECIMAL = /^\d{1,15}$/;

/** Undefined: it is malformed. */
function readAttribute(value: unknown, lengthMax: number): string | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  return isText(value, lengthMax) ? value : undefined;
}

/** The last millisecond that a Date can hold. */
const TIME_MS_MAX = 8_640_000_000_000_000;

/** Undefined: it is malformed. */
function readTime(value: unknown): number | null | undefined {
  if (value === undefined || value === null || value === '') return null;
  const ms = typeof value === 'string' ? timeOf(value) : value;
  return typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= TIME_MS_MAX
    ? ms
    : undefined;
}

const timeOf = (text: string): number | null =>
  DECIMAL.test(text) ? Number(text) : isoTimeMs(text);

function readTags(value: unknown): readonly FileTag[] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return null;
  const tags: FileTag[] = [];
  for (const entry of value) {
    const tag = readTag(entry);
    if (tag === null) return null;
    tags.push(tag);
  }
  return tags;
}

function readTag(entry: unknown): FileTag | null {
  if (typeof entry === 'string') return checkTag({ sourceId: entry });
  if (typeof entry === 'number') return checkTag({ id: entry });
  return isObject(entry) ? checkTag(entry) : null;
}

interface TagFields {
  readonly sourceId?: unknown;
  readonly id?: unknown;
  readonly name?: unknown;
}

function checkTag({ sourceId, id, name }: TagFields): FileTag | null {
  const tag: FileTag = {
    sourceId: isText(sourceId, SOURCE_ID_LENGTH_MAX) ? sourceId : null,
    id: isId(id) ? id : null,
    name: isText(name, TAG_NAME_LENGTH_MAX) ? name : null,
  };
  if (sourceId !== undefined && sourceId !== null && tag.sourceId === null) return null;
  if (id !== undefined && id !== null && tag.id === null) return null;
  return tag.sourceId === null && tag.id === null ? null : tag;
}
