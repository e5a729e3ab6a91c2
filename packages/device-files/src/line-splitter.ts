/**
 * Splits lines into records, each with the CR that it may end with. A line above the limit is never
 * kept whole in memory.
 */

import { isUtf8 } from 'node:buffer';
import type { RawRecord, Splitter } from './raw-record.ts';
import { RECORD_OCTETS_MAX, tooLong } from './raw-record.ts';

const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export class LineSplitter implements Splitter {
  /** The beginning of the line that is not complete yet. */
  private begun: Buffer[] = [];
  private begunOctets = 0;
  private line = 1;

  push(chunk: Buffer): readonly RawRecord[] {
    const records: RawRecord[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.keep(chunk.subarray(start, end));
      this.finish(records);
      start = end + 1;
    }
    this.keep(chunk.subarray(start));
    return records;
  }

  end(): readonly RawRecord[] {
    const records: RawRecord[] = [];
    if (this.begunOctets > 0) this.finish(records);
    return records;
  }

  private keep(part: Buffer): void {
    this.begunOctets += part.length;
    if (this.begunOctets > RECORD_OCTETS_MAX) this.begun = [];
    else if (part.length > 0) this.begun.push(part);
  }

  private finish(records: RawRecord[]): void {
    const { line } = this;
    if (this.begunOctets > RECORD_OCTETS_MAX) {
      records.push(tooLong(line));
    } else {
      const [only = Buffer.alloc(0)] = this.begun;
      const octets = withoutMark(this.begun.length < 2 ? only : Buffer.concat(this.begun), line);
      if (!isUtf8(octets)) records.push({ kind: 'fault', line, sentence: 'is not UTF-8.' });
      else records.push({ kind: 'text', line, text: octets.toString('utf8') });
    }
    this.begun = [];
    this.begunOctets = 0;
    this.line += 1;
  }
}

/** Without the byte order mark that Windows puts before the first line. */
const withoutMark = (octets: Buffer, line: number): Buffer =>
  line === 1 && octets.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? octets.subarray(BYTE_ORDER_MARK.length)
    : octets;
