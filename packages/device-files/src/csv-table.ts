/**
 * A CSV file with a line of column names, row by row. Fields are read by csv-parse, a few hundred
 * rows at a call.
 */

import type { Columns, Head } from './csv-head.ts';
import { namedSeparator, parseRows, readHead } from './csv-head.ts';
import { CsvSplitter } from './csv-splitter.ts';
import type { Entry } from './file-device.ts';
import type { RecordReader } from './format.ts';
import type { RawRecord } from './raw-record.ts';
import { WrongFileError } from './wrong-file-error.ts';

/** A row by the names of its columns; a column that the file does not have is undefined. */
export type Row = Readonly<Record<string, string | undefined>>;

/**
 * A call of csv-parse costs as much as some ten rows. After a fault, the rows of its call are
 * parsed again.
 */
const ROWS_MAX = 256;

/** Reads rows with `read`, each by its names in `columns`. */
export function tableReader(
  columns: Columns,
  read: (line: number, row: Row) => Entry,
): RecordReader {
  return new TableReader(columns, read);
}

class TableReader implements RecordReader {
  private readonly columns: Columns;
  private readonly readRow: (line: number, row: Row) => Entry;
  /** The separator that a line `sep=` names. */
  private separator: string | null = null;
  private head: Head | null = null;

  constructor(columns: Columns, readRow: (line: number, row: Row) => Entry) {
    this.columns = columns;
    this.readRow = readRow;
  }

  read(records: readonly RawRecord[]): readonly Entry[] {
    const entries: Entry[] = [];
    let start = 0;
    for (; this.head === null && start < records.length; start += 1) {
      this.readBegin(records[start] as RawRecord, entries);
    }
    if (this.head === null) return entries;
    for (; start < records.length; start += ROWS_MAX) {
      this.readSome(this.head, records.slice(start, start + ROWS_MAX), entries);
    }
    return entries;
  }

  end(): readonly Entry[] {
    if (this.head !== null) return [];
    throw new WrongFileError('The file is empty: not even names of columns are in it.');
  }

  private readBegin(record: RawRecord, entries: Entry[]): void {
    if (record.kind === 'fault') {
      entries.push(record);
      return;
    }
    const separator = this.separator === null ? namedSeparator(record.text) : null;
    if (separator === null) this.head = readHead(record.text, this.separator, this.columns);
    else this.separator = separator;
  }

  private readSome(head: Head, records: readonly RawRecord[], entries: Entry[]): void {
    const together = records.length > 1 ? parseRows(records.map(textOf), head.separator) : null;
    for (const [index, record] of records.entries()) {
      if (record.kind === 'fault') {
        entries.push(record);
        continue;
      }
      const fields = together?.[index] ?? parseRows([record.text], head.separator)?.[0];
      if (fields === undefined) this.readApart(head, record, entries);
      else this.take(head, record.line, fields, entries);
    }
  }

  /** In an invalid record the first line is at fault; later lines may be records of their own. */
  private readApart(
    head: Head,
    { line, text }: RawRecord & { kind: 'text' },
    entries: Entry[],
  ): void {
    entries.push({ kind: 'fault', line, sentence: 'has a quote at the wrong place.' });
    const end = text.indexOf('\n');
    if (end === -1) return;
    const splitter = new CsvSplitter();
    const others = [...splitter.push(Buffer.from(text.slice(end + 1))), ...splitter.end()];
    this.readSome(
      head,
      others.map((record) => ({ ...record, line: record.line + line })),
      entries,
    );
  }

  private take({ columns }: Head, line: number, fields: readonly string[], entries: Entry[]): void {
    // Excel keeps rows that were emptied.
    if (fields.every((field) => field === '')) return;
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

const textOf = (record: RawRecord): string => (record.kind === 'text' ? record.text : '""');
