/** The fields of a device and their bounds: the same as on the App API of Tagcast. */

/** The platforms that a file may name, and their ids. */
export const PLATFORMS: Readonly<Record<string, number>> = { apns: 3, webpush: 7, fcm: 15 };

export const DEVICE_ID_LENGTH_MAX = 4_096;
export const APP_VERSION_LENGTH_MAX = 255;
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
