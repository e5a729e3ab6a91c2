/**
 * Reads the App API's parameters leniently: real clients send many shapes (internals/interface.md,
 * internals/existing-clients.md, "App API"). Written by hand: it is the hot path.
 */

import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../../../packages/std/src/json.ts';
import { parseObject } from '../../../packages/std/src/json.ts';
import type { GivenAttribute, IgnoredAttribute } from '../../attributes/given-attributes.ts';
import type { TagNames } from '../../catalogue/snapshot.ts';
import { ATTRIBUTES_PER_REQUEST_MAX } from '../../domain/attributes.ts';
import { isDeviceId } from '../../domain/device.ts';
import type {
  AttributeName,
  DeviceAttributes,
  WithAttributes,
} from '../../domain/device-attributes.ts';
import { ATTRIBUTE_NAMES, eachAttribute, isAttribute } from '../../domain/device-attributes.ts';
import { isId, TAGS_PER_REQUEST_MAX } from '../../domain/tag.ts';

/**
 * A larger body counts as one without parameters; 413 comes above the route's own limit.
 * @limit body, App API → `reg` `ureg` `set`: `OK` with `Tagcast-Ignored: body`; `list` `tags`:
 * `400`; `devices/replace`: `413`
 */
export const PARAMETER_BYTES_MAX = 65_536;
/**
 * A proxy takes 4 KiB of headers in all.
 * @limit unknown fields that `Tagcast-Ignored` names → not named
 */
const UNKNOWN_NAMES_MAX = 10;
/** @limit the name of an unknown field in `Tagcast-Ignored` → cut */
const UNKNOWN_NAME_LENGTH_MAX = 64;

/** The parts of a request that can be wrong, in the order in which `Tagcast-Ignored` names them. */
export const PARAMETER_NAMES = [
  'body',
  'appId',
  'platformId',
  'deviceId',
  'tagId',
  'tagSourceId',
  ...ATTRIBUTE_NAMES,
  'attributes',
] as const;

export type ParameterName = (typeof PARAMETER_NAMES)[number];

/** The label in the metric: callers' own names would make a series each. */
export type IgnoredField = ParameterName | 'unknown';

export interface Parameters extends WithAttributes {
  /** Null: absent or malformed. The same holds for the next two. */
  readonly appId: number | null;
  readonly platformId: number | null;
  readonly deviceId: string | null;
  /** `null`, `[]` and `""` count as given, and name no tag. */
  readonly tagsGiven: boolean;
  readonly tooManyTags: boolean;
  readonly tagNames: TagNames;
  /** The attributes, and the fields that are older than attributes. */
  readonly given: readonly GivenAttribute[];
  /** Attributes beyond those of a request, written so that they fit into a header. */
  readonly surplusNames: readonly string[];
  /** Parameters that could not be read. A name may occur several times. */
  readonly faults: readonly ParameterName[];
  /** Fields that no endpoint knows, written so that they fit into a header. */
  readonly unknownNames: readonly string[];
  /** An unknown field was meant as tags: a `ureg` that overlooked it would remove all tags. */
  readonly meansTags: boolean;
}

/** Null: not a JSON object, or too large a one. */
export function readParameters(body: Buffer): Parameters | null {
  const fields = readObject(body);
  if (fields === null) return null;
  const faults: ParameterName[] = [];
  const tagEntries = entriesOf(fields, 'tagId');
  const sourceIdEntries = entriesOf(fields, 'tagSourceId');
  const count = (tagEntries?.length ?? 0) + (sourceIdEntries?.length ?? 0);
  const tooManyTags = count > TAGS_PER_REQUEST_MAX;
  if (tooManyTags) faults.push(tagEntries === null ? 'tagSourceId' : 'tagId');
  const attributes = eachAttribute((name) => readAttribute(fields, name, faults));
  return {
    appId: readId(fields['appId']),
    platformId: readId(fields['platformId']),
    deviceId: isDeviceId(fields['deviceId']) ? fields['deviceId'] : null,
    ...readGiven(fields, attributes, faults),
    tagsGiven: tagEntries !== null || sourceIdEntries !== null,
    tooManyTags,
    tagNames: {
      ids: tooManyTags ? [] : readEntries(tagEntries, readTagId, 'tagId', faults),
      sourceIds: tooManyTags
        ? []
        : readEntries(sourceIdEntries, readSourceId, 'tagSourceId', faults),
    },
    faults,
    ...readUnknown(fields),
  };
}

const FIELDS: ReadonlySet<string> = new Set(PARAMETER_NAMES.filter((name) => name !== 'body'));
const MEANT_AS_TAGS = /^tag(s|(source)?ids?)?$/i;
const NOT_IN_A_NAME = /[_-]/g;
/** The header is a list with commas. */
const NOT_IN_A_HEADER = /[^\x21-\x7e]|,/g;

function readUnknown(
  fields: Readonly<Record<string, unknown>>,
): Pick<Parameters, 'unknownNames' | 'meansTags'> {
  let hasUnknown = false;
  for (const name in fields) if (!FIELDS.has(name)) hasUnknown = true;
  if (!hasUnknown) return NOTHING_UNKNOWN;
  const unknown = Object.keys(fields).filter((name) => !FIELDS.has(name));
  const isMeantAsTags = (name: string): boolean =>
    MEANT_AS_TAGS.test(name.replaceAll(NOT_IN_A_NAME, ''));
  // The most important names come first: the list may be cut.
  const tags = unknown.filter(isMeantAsTags);
  const others = unknown.filter((name) => !isMeantAsTags(name));
  return {
    unknownNames: headerNames([...tags, ...others]),
    meansTags: tags.length > 0,
  };
}

const NOTHING_UNKNOWN = { unknownNames: [], meansTags: false } as const;

/** Callers' own names, in the form in which `Tagcast-Ignored` lists them. */
export const headerNames = (names: readonly string[]): readonly string[] =>
  names.slice(0, UNKNOWN_NAMES_MAX).map(headerForm);

/** The name that `Tagcast-Ignored` has for an attribute. */
export const ignoredName = ({ name, reason }: IgnoredAttribute): string =>
  reason === 'invalid' ? `attributes.${name}` : `attributes.${name}=${reason}`;

const headerForm = (name: string): string =>
  name.slice(0, UNKNOWN_NAME_LENGTH_MAX).replaceAll(NOT_IN_A_HEADER, '?') || '?';

/** JavaScript objects inherit none of the names that are read from it. */
function readObject(body: Buffer): JsonObject | null {
  if (body.length > PARAMETER_BYTES_MAX || !isUtf8(body)) return null;
  return parseObject(body.toString()) ?? null;
}

const DECIMAL = /^\d{1,10}$/;

/** A JSON number or a decimal string that can be an id. */
function readId(value: unknown): number | null {
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
  return isId(number) ? number : null;
}

/** One value or an array of them; null: the key is absent. */
function entriesOf(
  fields: Readonly<Record<string, unknown>>,
  name: 'tagId' | 'tagSourceId',
): readonly unknown[] | null {
  const value = fields[name];
  if (value === undefined) return null;
  if (value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function readEntries<T>(
  entries: readonly unknown[] | null,
  read: (entry: unknown) => T | null,
  name: 'tagId' | 'tagSourceId',
  faults: ParameterName[],
): readonly T[] {
  if (entries === null) return [];
  if (entries.length === 0) faults.push(name);
  const values: T[] = [];
  for (const entry of entries) {
    const value = read(entry);
    if (value === null) faults.push(name);
    else values.push(value);
  }
  return values;
}

/** Also takes a tag object as `list` returns it: the public browser SDK sends those. */
const readTagId = (entry: unknown): number | null =>
  typeof entry === 'object' && entry !== null && 'id' in entry ? readId(entry.id) : readId(entry);

const readSourceId = (entry: unknown): string | null =>
  typeof entry === 'string' && entry !== '' ? entry : null;

const NOTHING_GIVEN = { given: [], surplusNames: [] } as const;

/** The inner `appVersion` wins: null there, too. */
export function readGiven(
  fields: Readonly<Record<string, unknown>>,
  attributes: DeviceAttributes,
  faults: ParameterName[],
): Pick<Parameters, 'given' | 'surplusNames' | 'attributes'> {
  const inner = fields['attributes'] ?? null;
  const { appVersion } = attributes;
  if (inner === null && appVersion === null) return { ...NOTHING_GIVEN, attributes };
  const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
  if (inner !== null && !isObject) faults.push('attributes');
  const { given, surplusNames } = isObject ? readInner(inner as JsonObject) : NOTHING_GIVEN;
  const innermost = given.find(({ name }) => name === 'appVersion');
  if (innermost === undefined) {
    if (appVersion === null) return { given, surplusNames, attributes };
    const outer: GivenAttribute = { name: 'appVersion', value: appVersion, isQuiet: true };
    return { given: [...given, outer], surplusNames, attributes };
  }
  const { value } = innermost;
  const known = isAttribute('appVersion', value) ? { appVersion: value } : attributes;
  return { given, surplusNames, attributes: known };
}

/** In a loop: an array of entries for each request costs more than the look-ups of the values. */
function readInner(inner: JsonObject): Pick<Parameters, 'given' | 'surplusNames'> {
  const given: GivenAttribute[] = [];
  const surplus: string[] = [];
  for (const name in inner) {
    if (given.length < ATTRIBUTES_PER_REQUEST_MAX) given.push({ name, value: inner[name] });
    else if (surplus.length < UNKNOWN_NAMES_MAX) surplus.push(`attributes.${name}`);
  }
  return { given, surplusNames: surplus.length === 0 ? NONE : headerNames(surplus) };
}

const NONE: readonly string[] = [];

function readAttribute(
  fields: Readonly<Record<string, unknown>>,
  name: AttributeName,
  faults: ParameterName[],
): string | null {
  const value = fields[name];
  if (value === undefined || value === null) return null;
  if (isAttribute(name, value)) return value;
  faults.push(name);
  return null;
}
