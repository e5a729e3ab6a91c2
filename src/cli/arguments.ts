/** Reads the arguments of a command. A mistake is a sentence. */

import type { ParseArgsConfig } from 'node:util';
import { parseArgs } from 'node:util';
import { isoDayOrTimeMs } from '../../packages/std/src/iso-8601.ts';
import type { PlatformId } from '../../packages/std/src/platforms.ts';
import { PLATFORM_WORDS, platformNamed } from '../../packages/std/src/platforms.ts';
import { REPLACEMENT } from '../std/utf8.ts';

export class UsageError extends Error {}

const DIGITS = /^\d+$/;

/** `parseArgs` of Node, with a sentence for unknown flags. */
export function readFlags<T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
) {
  const broken = args.find((arg) => arg.includes(REPLACEMENT));
  if (broken !== undefined) {
    throw new UsageError(`${broken} is not UTF-8; set the terminal to it (LANG)`);
  }
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    // Node adds advice about `--` that fits none of our commands.
    throw new UsageError(text.split('. ')[0] ?? text, { cause: error });
  }
}

/** The positional arguments by their names. Only the last ones may be left out. */
export function readPositionals(
  given: readonly string[],
  expected: readonly { readonly name: string; readonly isOptional?: boolean }[],
): Readonly<Record<string, string>> {
  const missing = expected.slice(given.length).find(({ isOptional }) => isOptional !== true);
  if (missing !== undefined) throw new UsageError(`<${missing.name}> is missing`);
  if (given.length > expected.length)
    throw new UsageError(`unexpected argument ${given[expected.length]}`);
  return Object.fromEntries(given.map((text, index) => [expected[index]?.name ?? '', text]));
}

/** Reads an argument that must be a whole number. */
export function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (!DIGITS.test(text)) throw new UsageError(`${name} must be a number, not ${text}`);
  return value;
}

/** The flag of a platform: by its word, its number, or its provider. */
export const PLATFORM_FLAG = {
  type: 'string',
  choices: PLATFORM_WORDS,
  alsoTakes: (text: string) => platformNamed(text) !== null,
} as const;

/** Reads a platform of a flag that is a PLATFORM_FLAG. */
export function readPlatform(text: string): PlatformId {
  const platformId = platformNamed(text);
  if (platformId === null) throw new UsageError(`${text} is no platform`);
  return platformId;
}

/** Reads a day, or a time with its zone, in ISO 8601: in epoch milliseconds. */
export function readTime(name: string, text: string): number {
  const ms = isoDayOrTimeMs(text);
  if (ms !== null) return ms;
  throw new UsageError(
    `${name} must be a day or a time that exists, as 2027-01-31 or 2027-01-31T12:00:00Z, not ${text}`,
  );
}

export function required(flag: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`--${flag} is missing`);
  return value;
}
