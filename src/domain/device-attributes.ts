/**
 * Attributes of a device: texts that stay until another is given. A new one is a record here, a
 * column of the table `devices`, and a text of the console (`texts/devices.ts`).
 */

interface DeviceAttribute {
  readonly column: string;
  /** In UTF-16 units. A longer text is not such a value. */
  readonly lengthMax: number;
  readonly description: string;
  readonly label: string;
}

/** @limit appVersion → ignored, named in `Tagcast-Ignored` */
const APP_VERSION_LENGTH_MAX = 255;

const DEVICE_ATTRIBUTES = {
  appVersion: {
    column: 'app_version',
    lengthMax: APP_VERSION_LENGTH_MAX,
    description: 'Of the app. null, or absent: not known.',
    label: 'version of the app',
  },
} as const satisfies Record<string, DeviceAttribute>;

export type AttributeName = keyof typeof DEVICE_ATTRIBUTES;

export type DeviceAttributes = { readonly [Name in AttributeName]: string | null };

export interface WithAttributes {
  readonly attributes: DeviceAttributes;
}

export const ATTRIBUTES = Object.entries(DEVICE_ATTRIBUTES) as readonly (readonly [
  AttributeName,
  DeviceAttribute,
])[];

export const ATTRIBUTE_NAMES = ATTRIBUTES.map(([name]) => name);

/** Makes one value of each attribute. A loop: registrations call it. */
export function eachAttribute<Value>(
  make: (name: AttributeName, attribute: DeviceAttribute) => Value,
): { readonly [Name in AttributeName]: Value } {
  const values: { [Name in AttributeName]?: Value } = {};
  for (const [name, attribute] of ATTRIBUTES) values[name] = make(name, attribute);
  return values as { readonly [Name in AttributeName]: Value };
}

/** The values when an app has said nothing. */
export const NO_ATTRIBUTES: DeviceAttributes = eachAttribute(() => null);

/** Whether the value can be stored as this attribute. */
export const isAttribute = (name: AttributeName, value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= DEVICE_ATTRIBUTES[name].lengthMax &&
  !value.includes('\0') &&
  value.isWellFormed();

/** A value that was given last; what was not given stays as it was before. */
export const latestAttributes = (
  before: DeviceAttributes,
  given: DeviceAttributes,
): DeviceAttributes =>
  before === NO_ATTRIBUTES ? given : eachAttribute((name) => given[name] ?? before[name]);

/** Whether what is given says nothing new. Called for each registration. */
export function areKept(before: DeviceAttributes, given: DeviceAttributes): boolean {
  for (const name of ATTRIBUTE_NAMES) {
    const value = given[name];
    if (value !== null && value !== before[name]) return false;
  }
  return true;
}

/** The attributes among the fields of a record, and the other fields. */
export function takeAttributes(
  fields: {
    readonly [name: string]: unknown;
  } & { readonly [Name in AttributeName]?: string | null | undefined },
): {
  readonly attributes: DeviceAttributes;
  readonly others: readonly string[];
} {
  const others = Object.keys(fields).filter((name) => !Object.hasOwn(DEVICE_ATTRIBUTES, name));
  return { attributes: eachAttribute((name) => fields[name] ?? null), others };
}
