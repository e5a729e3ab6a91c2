/** Unguessable text: base62 and base36 from the system's random source, all equally likely. */

import { randomBytes } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz';

/** 190.5 bits: the least that the contract allows (internals/interface.md, "Callers"). */
const SECRET_CHARACTERS = 32;

export const randomSecret = (): string => randomText(BASE62, SECRET_CHARACTERS);

/** Lower-case letters and digits, for names that people read out. */
export const randomSuffix = (characters: number): string => randomText(BASE36, characters);

function randomText(alphabet: string, characters: number): string {
  // Bytes above the last multiple of the alphabet are dropped: a remainder favours its beginning.
  const usable = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < characters) {
    for (const byte of randomBytes(characters)) {
      if (byte < usable && text.length < characters) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}
