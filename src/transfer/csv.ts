/**
 * Our own CSV: `platformId,deviceId,appVersion,registeredAt,tags`, as `tagcast devices export`
 * writes it.
 */

import { parseJson } from '../std/json.ts';
import { CsvSplitter } from './csv-splitter.ts';
import { tableReader } from './csv-table.ts';
import { checkDevice } from './file-device.ts';
import type { Format } from './format.ts';

export const csvFormat: Format = {
  createSplitter: () => new CsvSplitter(),
  createReader: () =>
    tableReader(['platformId', 'deviceId'], (line, row) =>
      checkDevice(line, {
        platformId: row['platformId'],
        deviceId: row['deviceId'],
        appVersion: row['appVersion'],
        registeredAt: row['registeredAt'],
        tags: readTags(row['tags'] ?? ''),
      }),
    ),
};

/** A JSON array, or, for whoever writes the file by hand, sourceIds with semicolons between. */
function readTags(text: string): unknown {
  if (!text.startsWith('[')) {
    return text.split(';').flatMap((part) => {
      const sourceId = part.trim();
      return sourceId === '' ? [] : sourceId;
    });
  }
  // What is no list is refused.
  return parseJson(text) ?? '';
}
