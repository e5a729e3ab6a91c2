/** Attributes of a device in a file: values by their names. */

import { isObject, parseObject } from '../../std/src/json.ts';

export type FileAttributes = Readonly<Record<string, string | number | boolean>>;

export const NO_ATTRIBUTES: FileAttributes = Object.freeze({});

/** The attributes, or a sentence that says what is wrong. null and '' say nothing. */
export function readAttributes(value: unknown): FileAttributes | string {
  if (value === undefined || value === null || value === '') return NO_ATTRIBUTES;
  if (!isObject(value)) return 'attributes must be an object.';
  const attributes: Record<string, string | number | boolean> = Object.create(null);
  for (const [name, given] of Object.entries(value)) {
    if (given === null || given === '') continue;
    if (typeof given === 'object') {
      return 'attributes must have texts, numbers, true or false as values.';
    }
    attributes[name] = given as string | number | boolean;
  }
  return attributes;
}

/** Reads a field of CSV: a JSON object, or `language=de;country=CH` of a file written by hand. */
export function attributesOfText(text: string): unknown {
  if (text.startsWith('{')) return parseObject(text) ?? [];
  const pairs = text.split(';').flatMap((part) => {
    if (part.trim() === '') return [];
    const at = part.indexOf('=');
    return at === -1 ? [null] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()] as const];
  });
  // The caller refuses anything but an object.
  return pairs.includes(null) ? [] : Object.fromEntries(pairs.filter((pair) => pair !== null));
}

/** Those of the texts that say something. */
export function knownTexts(texts: Readonly<Record<string, unknown>>): FileAttributes {
  const known = Object.entries(texts).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  return known.length === 0 ? NO_ATTRIBUTES : Object.fromEntries(known);
}
