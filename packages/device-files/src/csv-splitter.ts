/**
 * Splits CSV into records: lines, joined while a quoted field is open. Quotes inside a field are
 * doubled (RFC 4180), so a record has an even number of quotes. Only that is checked here;
 * csv-parse reads the fields. Given a whole file, csv-parse does not recover from a quote at the
 * wrong place, and would lose everything after it.
 */

import { LineSplitter } from './line-splitter.ts';
import type { RawRecord, Splitter } from './raw-record.ts';
import { RECORD_OCTETS_MAX } from './raw-record.ts';

type TextRecord = Extract<RawRecord, { readonly kind: 'text' }>;

/**
 * A quote that is never closed affects no more lines than this. A deviceId with line breaks has a
 * few.
 * @limit lines of a CSV record → a bad record: its first line
 */
const LINES_MAX = 100;

export class CsvSplitter implements Splitter {
  private readonly lines = new LineSplitter();
  /** The lines of a record with an open quote. */
  private open: TextRecord[] = [];
  private openLength = 0;

  push(chunk: Buffer): readonly RawRecord[] {
    const records: RawRecord[] = [];
    for (const line of this.lines.push(chunk)) this.take(line, records);
    return records;
  }

  end(): readonly RawRecord[] {
    const records: RawRecord[] = [];
    for (const line of this.lines.end()) this.take(line, records);
    while (this.open.length > 0) this.giveUp(records);
    return records;
  }

  private take(line: RawRecord, records: RawRecord[]): void {
    if (line.kind === 'fault') {
      while (this.open.length > 0) this.giveUp(records);
      records.push(line);
      return;
    }
    const [first] = this.open;
    if (first === undefined) {
      if (hasEvenQuotes(line.text)) {
        const text = withoutEnd(line.text);
        if (text !== '') records.push({ ...line, text });
        return;
      }
    } else if (!hasEvenQuotes(line.text)) {
      const text = [...this.open, line].map((part) => part.text).join('\n');
      records.push({ kind: 'text', line: first.line, text: withoutEnd(text) });
      this.open = [];
      this.openLength = 0;
      return;
    }
    this.open.push(line);
    this.openLength += line.text.length;
    if (this.open.length > LINES_MAX || this.openLength > RECORD_OCTETS_MAX) this.giveUp(records);
  }

  /** Gives up the first of the open lines: later ones are read again, as records of their own. */
  private giveUp(records: RawRecord[]): void {
    const [first, ...others] = this.open;
    this.open = [];
    this.openLength = 0;
    if (first === undefined) return;
    const sentence = 'has a quote that is never closed.';
    records.push({ kind: 'fault', line: first.line, sentence });
    for (const line of others) this.take(line, records);
  }
}

function hasEvenQuotes(text: string): boolean {
  let isEven = true;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) isEven = !isEven;
  return isEven;
}

/** Without the CR before a newline: only a CR at the end of a record is not part of its text. */
const withoutEnd = (text: string): string => (text.endsWith('\r') ? text.slice(0, -1) : text);
