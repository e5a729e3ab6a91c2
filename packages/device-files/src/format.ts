/** The format of a file: how its octets are cut into records, and how records are read. */

import type { JsonObject } from '../../std/src/json.ts';
import { parseObject } from '../../std/src/json.ts';
import type { Entry } from './file-device.ts';
import type { RawRecord, Splitter } from './raw-record.ts';

export interface Format {
  createSplitter(): Splitter;
  createReader(): RecordReader;
}

/** Reads the records of one file, in order. */
export interface RecordReader {
  read(records: readonly RawRecord[]): readonly Entry[];
  /** The entries that are left at the end of the file. */
  end(): readonly Entry[];
}

/** A reader that needs no memory of earlier records. */
export const eachRecord = (read: (line: number, text: string) => Entry | null): RecordReader => ({
  read: (records) =>
    records.flatMap((record) => {
      const entry = record.kind === 'fault' ? record : read(record.line, record.text);
      return entry === null ? [] : [entry];
    }),
  end: () => [],
});

/** A JSON object without inherited fields; null: the text is not one. */
export function readObject(text: string): JsonObject | null {
  const value = parseObject(text);
  return value === undefined ? null : (Object.setPrototypeOf(value, null) as JsonObject);
}
