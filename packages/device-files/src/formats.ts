/** Every format that devices can be read from. */

import { aeroGearFormat } from './aerogear.ts';
import { airshipFormat } from './airship.ts';
import { azureFormat } from './azure.ts';
import { csvFormat } from './csv.ts';
import type { Format } from './format.ts';
import { ndjsonFormat } from './ndjson.ts';
import { oneSignalFormat } from './onesignal.ts';

export const FORMATS = {
  csv: csvFormat,
  ndjson: ndjsonFormat,
  onesignal: oneSignalFormat,
  airship: airshipFormat,
  aerogear: aeroGearFormat,
  azure: azureFormat,
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];

export const isFormatName = (name: string): name is FormatName => Object.hasOwn(FORMATS, name);
