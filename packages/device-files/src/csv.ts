/**
 * Our own CSV: `platformId,deviceId,appVersion,…,registeredAt,tags,attributes`, as `tagcast devices
 * export` writes it.
 */

import { parseJson } from '../../std/src/json.ts';
import type { Columns } from './csv-head.ts';
import { CsvSplitter } from './csv-splitter.ts';
import { tableReader } from './csv-table.ts';
import { ATTRIBUTE_NAMES } from './field-rules.ts';
import { attributesOfText } from './file-attributes.ts';
import { checkDevice } from './file-device.ts';
import type { Format } from './format.ts';

export const CSV_COLUMNS: Columns = {
  needed: ['platformId', 'deviceId'],
  others: [...ATTRIBUTE_NAMES, 'registeredAt', 'tags', 'attributes'],
};

export const csvFormat: Format = {
  createSplitter: () => new CsvSplitter(),
  createReader: () =>
    tableReader(CSV_COLUMNS, (line, row) =>
      checkDevice(line, {
        ...row,
        platformId: row['platformId'],
        deviceId: row['deviceId'],
        registeredAt: row['registeredAt'],
        tags: readTags(row['tags'] ?? ''),
        attributes: attributesOfText(row['attributes'] ?? ''),
        properties: null,
        unusable: [],
      }),
    ),
};

/** A JSON array, or, for files written by hand, sourceIds separated by semicolons. */
function readTags(text: string): unknown {
  if (!text.startsWith('[')) {
    return text.split(';').flatMap((part) => {
      const sourceId = part.trim();
      return sourceId === '' ? [] : sourceId;
    });
  }
  // The caller refuses anything but a list.
  return parseJson(text) ?? '';
}
