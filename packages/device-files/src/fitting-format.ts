/** Guesses the format of a file from its beginning, for a person who has named another one. */

import { textOfBeginning } from './as-utf8.ts';
import { CSV_COLUMNS } from './csv.ts';
import type { Columns } from './csv-head.ts';
import { findHead, namedSeparator } from './csv-head.ts';
import { readObject } from './format.ts';
import type { FormatName } from './formats.ts';
import { ONESIGNAL_COLUMNS } from './onesignal.ts';

const TABLES: readonly (readonly [FormatName, Columns])[] = [
  ['csv', CSV_COLUMNS],
  ['onesignal', ONESIGNAL_COLUMNS],
];

/** Fields that the objects of one format have, and those of no other one. */
const FIELDS: readonly (readonly [FormatName, readonly string[]])[] = [
  ['ndjson', ['deviceId']],
  ['azure', ['pushChannel', 'registrationId', 'installationId']],
  ['aerogear', ['deviceToken']],
  ['airship', ['channel_id', 'push_address']],
];

/** A list of channels; a page of them, whose line may be longer than the beginning. */
const AIRSHIP = /"(channel_id|push_address)"/;
const PAGE = /^\{[^{}[\]]*"channels"\s*:\s*\[/;

const LINE_END = /\r\n|\r|\n/;

/** The first octets of a file decide. Null: no format fits. */
export function fittingFormat(begin: Buffer): FormatName | null {
  const text = textOfBeginning(begin).trimStart();
  if (text.startsWith('<')) return 'azure';
  if (text.startsWith('[')) return AIRSHIP.test(text) ? 'airship' : 'aerogear';
  if (PAGE.test(text)) return 'airship';
  const [first = '', second = ''] = text.split(LINE_END, 2);
  if (first.startsWith('{')) {
    const fields = readObject(first) ?? {};
    return FIELDS.find(([, names]) => names.some((name) => name in fields))?.[0] ?? null;
  }
  const separator = namedSeparator(first);
  const head = separator === null ? first : second;
  const fits = ([, columns]: (typeof TABLES)[number]): boolean =>
    findHead(head, separator, columns)?.missing.length === 0;
  return TABLES.find(fits)?.[0] ?? null;
}
