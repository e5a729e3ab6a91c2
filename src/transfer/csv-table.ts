/**
 * A CSV file with a line of column names, row by row. Fields are read by csv-parse, a few hundred
 * rows at a call.
 */

import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { CsvSplitter } from './csv-splitter.ts';
import type { Entry } from './file-device.ts';
import type { RecordReader } from './format.ts';
import type { RawRecord } from './raw-record.ts';

/** A row by the names of its columns; a column that the file does not have is undefined. */
export type Row = Readonly<Record<string, string | undefined>>;

/**
 * A call of csv-parse costs as much as some ten rows. After a fault, the rows of its call are
 * parsed again.
 */
const ROWS_MAX = 256;

/** Reads rows with `read`. Without all of the columns `needed` no row can be read. */
export function tableReader(
  needed: readonly string[],
  read: (line: number, row: Row) => Entry,
): RecordReader {
  return new TableReader(needed, read);
}

class TableReader implements RecordReader {
  private readonly needed: readonly string[];
  private readonly readRow: (line: number, row: Row) => Entry;
  private columns: readonly string[] | null = null;

  constructor(needed: readonly string[], readRow: (line: number, row: Row) => Entry) {
    this.needed = needed;
    this.readRow = readRow;
  }

  read(records: readonly RawRecord[]): readonly Entry[] {
    const entries: Entry[] = [];
    for (let start = 0; start < records.length; start += ROWS_MAX) {
      this.readSome(records.slice(start, start + ROWS_MAX), entries);
    }
    return entries;
  }

  end(): readonly Entry[] {
    return [];
  }

  private readSome(records: readonly RawRecord[], entries: Entry[]): void {
    const together = records.length > 1 ? parseRows(records) : null;
    for (const [index, record] of records.entries()) {
      if (record.kind === 'fault') {
        entries.push(record);
        continue;
      }
      const fields = together?.[index] ?? parseRows([record])?.[0];
      if (fields === undefined) this.readApart(record, entries);
      else this.take(record.line, fields, entries);
    }
  }

  /** In an invalid record the first line is at fault; later lines may be records of their own. */
  private readApart({ line, text }: RawRecord & { kind: 'text' }, entries: Entry[]): void {
    if (this.columns === null) throw new WrongFileError('The first line has no names of columns.');
    entries.push({ kind: 'fault', line, sentence: 'has a quote at the wrong place.' });
    const end = text.indexOf('\n');
    if (end === -1) return;
    const splitter = new CsvSplitter();
    const others = [...splitter.push(Buffer.from(text.slice(end + 1))), ...splitter.end()];
    this.readSome(
      others.map((record) => ({ ...record, line: record.line + line })),
      entries,
    );
  }

  private take(line: number, fields: readonly string[], entries: Entry[]): void {
    if (this.columns === null) {
      this.columns = fields;
      const missing = this.needed.filter((name) => !fields.includes(name));
      if (missing.length > 0)
        throw new WrongFileError(`The file has no column ${missing.join(', ')}.`);
      return;
    }
    const { columns } = this;
    if (fields.length !== columns.length) {
      const sentence = `has ${fields.length} fields where the first line has ${columns.length}.`;
      entries.push({ kind: 'fault', line, sentence });
      return;
    }
    const row: Record<string, string> = Object.create(null);
    for (const [index, name] of columns.entries()) row[name] = fields[index] ?? '';
    entries.push(this.readRow(line, row));
  }
}

/** The file is not of the given format: nothing of it can be read. */
export class WrongFileError extends Error {}

/** The fields of each record, in order; null: one of them is not valid CSV. */
function parseRows(records: readonly RawRecord[]): readonly (readonly string[])[] | null {
  const texts = records.map((record) => (record.kind === 'text' ? record.text : '""'));
  try {
    const rows = parse(texts.join('\n'), {
      record_delimiter: '\n',
      relax_column_count: true,
    });
    return rows.length === records.length ? rows : null;
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}
