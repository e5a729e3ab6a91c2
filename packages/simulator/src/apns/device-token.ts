/** The device token in the path of an APNs request: hex, of 32 bytes or more. */

export const DEVICE_PATH = '/3/device/';

/** In hex digits. */
const LENGTH_MIN = 64;

const LOWER_CASE = 0;
const UPPER_CASE = 1;
const NOT_HEX = 2;

/**
 * The kind of each character. A table, because the digits of a token are random: a pattern tests
 * for every one whether it is a figure or a letter, and the processor guesses wrong.
 */
const KINDS = makeKinds();

/**
 * The token of the path, in lower case, as it is recorded; undefined when there is none or it is
 * malformed.
 */
export function deviceTokenOf(path: string): string | undefined {
  const length = path.length - DEVICE_PATH.length;
  if (length < LENGTH_MIN || length % 2 !== 0 || !path.startsWith(DEVICE_PATH)) return undefined;
  let kinds = 0;
  for (let index = DEVICE_PATH.length; index < path.length; index += 1) {
    kinds |= KINDS[path.charCodeAt(index)] ?? NOT_HEX;
  }
  if (kinds >= NOT_HEX) return undefined;
  const token = path.slice(DEVICE_PATH.length);
  return kinds === UPPER_CASE ? token.toLowerCase() : token;
}

function makeKinds(): Uint8Array {
  const kinds = new Uint8Array(128).fill(NOT_HEX);
  for (const digit of '0123456789abcdef') kinds[digit.charCodeAt(0)] = LOWER_CASE;
  for (const digit of 'ABCDEF') kinds[digit.charCodeAt(0)] = UPPER_CASE;
  return kinds;
}
