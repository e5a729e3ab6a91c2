/** The fields of a device and their bounds: the same as on the App API of Tagcast. */

export const DEVICE_ID_LENGTH_MAX = 4_096;
/** Facts that an app reports of a device: texts with at most so many UTF-16 units. */
const ATTRIBUTES = { appVersion: 255 } as const;
type AttributeName = keyof typeof ATTRIBUTES;

/** A value for each attribute. */
export type Attributes<Value> = { readonly [Name in AttributeName]: Value };

/** In the order in which files have them. */
export const ATTRIBUTE_LENGTHS = Object.entries(ATTRIBUTES) as readonly (readonly [
  AttributeName,
  number,
])[];
export const ATTRIBUTE_NAMES = ATTRIBUTE_LENGTHS.map(([name]) => name);
export const SOURCE_ID_LENGTH_MAX = 255;
export const TAG_NAME_LENGTH_MAX = 255;
export const ID_MAX = 2_147_483_647;

/** Whether it is text that can be stored: without NUL and lone surrogates, which have no UTF-8. */
export const isText = (value: unknown, lengthMax: number): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= lengthMax &&
  !value.includes('\0') &&
  value.isWellFormed();

/** Whether it can be the id of a tag. */
export const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= ID_MAX;
