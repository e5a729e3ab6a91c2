/**
 * Cuts the objects out of one JSON array, for JSON.parse to read, independent of line breaks. A
 * library that streams JSON builds a string of any length in memory, and stops for good at the
 * first mistake.
 */

import { isUtf8 } from 'node:buffer';
import type { RawRecord, Splitter } from './raw-record.ts';
import { RECORD_OCTETS_MAX, tooLong } from './raw-record.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const NEWLINE = 0x0a;

export class ObjectSplitter implements Splitter {
  private readonly parts: Buffer[] = [];
  private octets = 0;
  private line = 1;
  private startLine = 1;
  private depth = 0;
  private inString = false;
  private isEscaped = false;
  /**
   * The line of anything other than white space, commas and the array's brackets between objects.
   */
  private strayLine: number | null = null;

  push(chunk: Buffer): readonly RawRecord[] {
    const records: RawRecord[] = [];
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const octet = chunk[at] ?? 0;
      if (octet === NEWLINE) this.line += 1;
      if (this.depth === 0) {
        if (octet === BRACE_OPEN) {
          this.reportStray(records);
          start = at;
          this.startLine = this.line;
          this.depth = 1;
        } else if (!BETWEEN.has(octet)) this.strayLine ??= this.line;
      } else if (this.closes(octet)) {
        this.keep(chunk.subarray(start, at + 1));
        this.finish(records);
      }
    }
    if (this.depth > 0) this.keep(chunk.subarray(start));
    return records;
  }

  end(): readonly RawRecord[] {
    const records: RawRecord[] = [];
    this.reportStray(records);
    if (this.depth > 0) {
      records.push({
        kind: 'fault',
        line: this.startLine,
        sentence: 'begins an object without an end.',
      });
    }
    return records;
  }

  /** Processes an octet inside an object; returns whether it ends the object. */
  private closes(octet: number): boolean {
    if (this.inString) {
      if (this.isEscaped) this.isEscaped = false;
      else if (octet === BACKSLASH) this.isEscaped = true;
      else if (octet === QUOTE) this.inString = false;
      return false;
    }
    if (octet === QUOTE) this.inString = true;
    else if (octet === BRACE_OPEN) this.depth += 1;
    else if (octet === BRACE_CLOSE) this.depth -= 1;
    return this.depth === 0;
  }

  private keep(part: Buffer): void {
    this.octets += part.length;
    if (this.octets > RECORD_OCTETS_MAX) this.parts.length = 0;
    else this.parts.push(part);
  }

  private finish(records: RawRecord[]): void {
    const line = this.startLine;
    const whole = Buffer.concat(this.parts);
    if (this.octets > RECORD_OCTETS_MAX) records.push(tooLong(line));
    else if (!isUtf8(whole)) records.push({ kind: 'fault', line, sentence: 'is not UTF-8.' });
    else records.push({ kind: 'text', line, text: whole.toString('utf8') });
    this.parts.length = 0;
    this.octets = 0;
  }

  private reportStray(records: RawRecord[]): void {
    if (this.strayLine === null) return;
    const sentence = 'has something that is no object of a JSON array.';
    records.push({ kind: 'fault', line: this.strayLine, sentence });
    this.strayLine = null;
  }
}

/** White space, comma, brackets of the array, and the octets of a byte order mark. */
const BETWEEN: ReadonlySet<number> = new Set([
  0x20, 0x09, 0x0a, 0x0d, 0x2c, 0x5b, 0x5d, 0xef, 0xbb, 0xbf,
]);
