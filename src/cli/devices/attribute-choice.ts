/**
 * `--attributes` and `--without-attributes` of an import: which attributes devices get, and of
 * which properties of the file.
 */

import type { FileAttributes } from '../../../packages/device-files/src/file-attributes.ts';
import type { FileDevice } from '../../../packages/device-files/src/file-device.ts';
import type { FormatName } from '../../../packages/device-files/src/formats.ts';
import { nearestName } from '../../std/nearest-name.ts';
import { UsageError } from '../arguments.ts';

export interface AttributeChoice {
  /** The same for the same choice, to compare it with that of an earlier run. */
  readonly text: string;
  /** Names of attributes, and the property of the file that each is made of. */
  readonly wanted: ReadonlyMap<string, string>;
  leavesOut(name: string): boolean;
  /** The tags of the file are its properties, too. */
  readonly areTags: boolean;
}

/** An attribute that devices of the app can have, as the engine says. */
interface KnownAttribute {
  readonly name: string;
  readonly type: string;
}

export type KnownAttributes = ReadonlyMap<string, string>;

const ALL = '*';
/** Formats whose devices have properties by names of their publisher. */
const WITH_PROPERTIES: readonly FormatName[] = ['onesignal', 'airship'];

export function readAttributeChoice(
  format: FormatName,
  only: string | undefined,
  without: string | undefined,
): AttributeChoice {
  if (only !== undefined && !WITH_PROPERTIES.includes(format)) {
    throw new UsageError(
      `--attributes is for --format ${WITH_PROPERTIES.join(' and ')}: other files name attributes themselves`,
    );
  }
  const wanted = new Map(only === undefined ? [] : readPairs(only));
  const unwanted = without === undefined ? [] : readNames('--without-attributes', without);
  return {
    text: textOf([...wanted], unwanted),
    wanted,
    areTags: format === 'onesignal',
    leavesOut: (name) => unwanted.includes(name) || unwanted.includes(ALL),
  };
}

const textOf = (wanted: readonly unknown[], unwanted: readonly string[]): string =>
  JSON.stringify([wanted, unwanted]);

/** The choice of who names nothing, which earlier versions did not write down. */
export const NO_CHOICE = textOf([], []);

function readPairs(text: string): readonly (readonly [string, string])[] {
  const pairs = readNames('--attributes', text).map((word) => {
    const at = word.indexOf('=');
    return at === -1
      ? ([word, word] as const)
      : ([word.slice(0, at).trim(), word.slice(at + 1).trim()] as const);
  });
  if (pairs.some(([name, property]) => name === '' || property === '')) {
    throw new UsageError('--attributes must be names, or attribute=property, with commas between');
  }
  return pairs;
}

function readNames(flag: string, text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new UsageError(`${flag} must be names with commas between`);
  return names;
}

/** The types of attributes by their names. Null: an engine before attributes takes none. */
export const knownAttributesOf = (
  attributes: readonly KnownAttribute[] | undefined,
): KnownAttributes | null =>
  attributes === undefined ? null : new Map(attributes.map(({ name, type }) => [name, type]));

/** Before anything is imported: each attribute that was named must be there. */
export function requireDeclared(
  { wanted }: AttributeChoice,
  known: KnownAttributes | null,
  appId: number,
): void {
  for (const name of wanted.keys()) {
    if (known?.has(name)) continue;
    const [first, ...others] = known?.keys() ?? [];
    const nearest =
      first === undefined ? '' : `; the nearest is ${nearestName(name, [first, ...others])}`;
    throw new UsageError(
      `--attributes names ${name}, which devices of app ${appId} cannot have: declare it first (tagcast attribute add)${nearest}`,
    );
  }
}

interface Chosen {
  readonly device: FileDevice;
  /** Attributes of the file that the choice leaves out. */
  readonly notTaken: number;
}

/** The device with the attributes that it gets. A property that becomes one is no tag any more. */
export function withAttributes(
  device: FileDevice,
  choice: AttributeChoice,
  known: KnownAttributes | null,
): Chosen {
  const { properties } = device;
  const attributes: Record<string, FileAttributes[string]> = Object.create(null);
  let notTaken = 0;
  for (const [name, value] of Object.entries(device.attributes)) {
    if (choice.leavesOut(name)) notTaken += 1;
    else attributes[name] = value;
  }
  const madeOf = new Set<string>();
  for (const [name, property] of choice.wanted) {
    const value = properties[property];
    if (value === undefined) continue;
    attributes[name] = valueFor(known?.get(name), value);
    if (choice.areTags) madeOf.add(property).add(`${property}:${value}`);
  }
  const isWithoutVersion = device.appVersion !== null && choice.leavesOut('appVersion');
  if (isWithoutVersion) notTaken += 1;
  const appVersion = isWithoutVersion ? null : device.appVersion;
  const tags = device.tags.filter(({ sourceId }) => sourceId === null || !madeOf.has(sourceId));
  return { device: { ...device, appVersion, attributes, tags }, notTaken };
}

const YES: ReadonlySet<string> = new Set(['1', 'true', 'yes']);
const NO: ReadonlySet<string> = new Set(['0', 'false', 'no']);
const WHOLE = /^-?\d{1,15}$/;
/** Since 1970, as OneSignal has times. */
const SECONDS = /^\d{9,10}$/;
/** Airship writes times of UTC so. */
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?$/;

/** Other engines have texts for everything. What is none of the type stays, and is refused. */
function valueFor(type: string | undefined, value: FileAttributes[string]): typeof value {
  const text = String(value);
  switch (type) {
    case 'boolean':
      if (YES.has(text.toLowerCase())) return true;
      return NO.has(text.toLowerCase()) ? false : value;
    case 'integer':
      return WHOLE.test(text) ? Number(text) : value;
    case 'time':
      if (SECONDS.test(text)) return Number(text) * 1_000;
      return WITHOUT_ZONE.test(text) ? `${text}Z` : value;
    default:
      return text;
  }
}
