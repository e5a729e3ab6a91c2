/**
 * A request that is sent many times with one value changed: at the end of its path, or inside of
 * its content. With the value in the path, it may also bring new content each time. Its octets are
 * compiled once per connection and state of the peer's table. From then on a request takes two or
 * three copies and a few numbers.
 */

import {
  Flag,
  FRAME_HEAD_OCTETS,
  FrameType,
  writeFrameHead,
  writeLength,
  writeStreamId,
} from '../frame/head.ts';
import { FRAME_OCTETS_MAX } from '../frame/settings.ts';
import type { Encoder } from '../hpack/encoder.ts';
import { fieldsSizeMax } from '../hpack/encoder.ts';
import type { Field } from '../hpack/field.ts';
import { integerOctets, writeInteger } from '../hpack/integer.ts';

export interface RequestForm {
  readonly method: string;
  readonly scheme: 'https' | 'http';
  readonly authority: string;
  /** The place of the value: after `path`, or between the halves of the content. */
  readonly valueIn: 'path' | 'content';
  readonly path: string;
  /** Besides the pseudo-fields; names in lower case. */
  readonly fields: readonly Field[];
  readonly contentBefore: Buffer;
  readonly contentAfter: Buffer;
  /**
   * Each request brings content of its own, of any length, at the end. The value must be in the
   * path then.
   */
  readonly hasOwnContent?: boolean;
}

/** A text in ASCII that writes itself, so that it need not become a string. */
interface WrittenText {
  /** Characters of the text. */
  readonly length: number;
  write(into: Buffer, offset: number): void;
}

/** The value that changes with each request. One that writes itself is sent unchecked. */
export type RequestValue = string | WrittenText;

/**
 * Literal without indexing whose name is entry 4 of the static table, `:path` (RFC 7541, 6.2.2).
 */
const PATH_LITERAL = 0x04;
/** The string is not Huffman coded (RFC 7541, 5.2): the value changes with every request. */
const PLAIN = 0x00;
const LENGTH_PREFIX_BITS = 7;
/** For one UTF-16 unit. */
const UTF8_OCTETS_MAX = 3;
const EMPTY = Buffer.alloc(0);

/** A form on one connection. */
export class PreparedRequest {
  readonly form: RequestForm;
  readonly hasContent: boolean;
  readonly #hasOwnContent: boolean;
  /** The encoder's epoch for which the octets were compiled; -1: never. */
  #epoch = -1;
  /** Octets of content in the request that was written last. */
  contentOctets = 0;
  /** The parts of the request before and after the value. */
  #before: Buffer = EMPTY;
  #after: Buffer = EMPTY;
  /** Octets of the field block, without a value in the path. */
  #blockOctets = 0;
  /** The position of the path's length in `before`, and the number of octets that it takes. */
  #pathLengthAt = 0;
  #pathLengthOctets = 0;
  /**
   * Where DATA begins: in `before` when the value is in the content, in `after` when it is in the
   * path.
   */
  #dataAt = 0;

  constructor(form: RequestForm) {
    this.form = form;
    const { contentBefore, contentAfter, valueIn, hasOwnContent = false } = form;
    this.#hasOwnContent = hasOwnContent;
    this.hasContent =
      hasOwnContent || valueIn === 'content' || contentBefore.length + contentAfter.length > 0;
  }

  /**
   * The most octets that `write` needs for a value of so many characters and so many octets of own
   * content.
   */
  octetsMax(valueLength: number, ownOctets = 0): number {
    return this.#before.length + this.#after.length + valueLength * UTF8_OCTETS_MAX + ownOctets;
  }

  /**
   * All fields of the request, for an encoder that inserts. Throws TypeError when a path cannot
   * hold the value.
   */
  fieldsFor(value: RequestValue): readonly Field[] {
    const { valueIn, path, fields } = this.form;
    const whole = valueIn === 'path' ? path + checkPathValue(String(value)) : path;
    return [
      ...this.#pseudoFields(),
      { name: ':path', value: whole, indexing: 'without' },
      ...fields,
    ];
  }

  contentFor(value: RequestValue, own: Buffer = EMPTY): Buffer {
    const { valueIn, contentBefore, contentAfter } = this.form;
    const between = valueIn === 'content' ? Buffer.from(String(value)) : EMPTY;
    return Buffer.concat([contentBefore, between, contentAfter, own]);
  }

  /**
   * Compiles the octets for the encoder's present table and for values as long as this one. The
   * table must have seen the fields already.
   */
  compile(encoder: Encoder, valueLength: number): void {
    if (this.form.valueIn === 'path') this.#compilePath(encoder, valueLength);
    else this.#compileContent(encoder);
    this.#epoch = encoder.epoch;
  }

  /**
   * Whether the compiled octets are valid now, for a value of this length. A request that might not
   * fit into two frames never uses them.
   */
  serves(encoder: Encoder, valueLength: number, ownOctets = 0): boolean {
    if (this.#epoch !== encoder.epoch) return false;
    if (this.octetsMax(valueLength, ownOctets) > FRAME_OCTETS_MAX) return false;
    if (this.form.valueIn === 'content') return true;
    const pathOctets = this.form.path.length + valueLength;
    return integerOctets(LENGTH_PREFIX_BITS, pathOctets) === this.#pathLengthOctets;
  }

  /** Writes the whole request; returns the offset after it. */
  write(
    into: Buffer,
    offset: number,
    streamId: number,
    value: RequestValue,
    own: Buffer = EMPTY,
  ): number {
    into.set(this.#before, offset);
    writeStreamId(into, offset, streamId);
    const valueAt = offset + this.#before.length;
    if (this.form.valueIn === 'content') {
      return this.#writeContent(into, offset, valueAt, streamId, value);
    }
    const behind = this.#writePath(into, offset, valueAt, streamId, value);
    return this.#hasOwnContent ? this.#writeOwn(into, behind, own) : behind;
  }

  #writePath(
    into: Buffer,
    offset: number,
    valueAt: number,
    streamId: number,
    value: RequestValue,
  ): number {
    const end = valueAt + value.length;
    if (typeof value === 'string') into.write(checkPathValue(value), valueAt, 'latin1');
    else value.write(into, valueAt);
    writeLength(into, offset, this.#blockOctets + value.length);
    const pathOctets = this.form.path.length + value.length;
    writeInteger(into, offset + this.#pathLengthAt, PLAIN, LENGTH_PREFIX_BITS, pathOctets);
    into.set(this.#after, end);
    if (this.hasContent) writeStreamId(into, end + this.#dataAt, streamId);
    return end + this.#after.length;
  }

  #writeOwn(into: Buffer, offset: number, own: Buffer): number {
    const { contentBefore, contentAfter } = this.form;
    const sharedOctets = contentBefore.length + contentAfter.length;
    into.set(own, offset);
    this.contentOctets = sharedOctets + own.length;
    writeLength(into, offset - sharedOctets - FRAME_HEAD_OCTETS, this.contentOctets);
    return offset + own.length;
  }

  #writeContent(
    into: Buffer,
    offset: number,
    valueAt: number,
    streamId: number,
    value: RequestValue,
  ): number {
    const end = valueAt + into.write(String(value), valueAt);
    into.set(this.#after, end);
    const dataAt = offset + this.#dataAt;
    const behind = end + this.#after.length;
    this.contentOctets = behind - dataAt - FRAME_HEAD_OCTETS;
    writeLength(into, dataAt, this.contentOctets);
    writeStreamId(into, dataAt, streamId);
    return behind;
  }

  #compilePath(encoder: Encoder, valueLength: number): void {
    const { path, fields, contentBefore, contentAfter } = this.form;
    const pathOctets = path.length + valueLength;
    this.#pathLengthOctets = integerOctets(LENGTH_PREFIX_BITS, pathOctets);
    const start = compiled(encoder, this.#pseudoFields());
    const pathLiteral = Buffer.alloc(1 + this.#pathLengthOctets, PATH_LITERAL);
    const rest = compiled(encoder, fields);
    const block = [start, pathLiteral, Buffer.from(path, 'latin1')];
    this.#blockOctets = Buffer.concat([...block, rest]).length;
    this.#pathLengthAt = FRAME_HEAD_OCTETS + start.length + 1;
    const headers = headOf(FrameType.HEADERS, this.#blockOctets, !this.hasContent);
    this.#before = Buffer.concat([headers, ...block]);
    this.#dataAt = rest.length;
    this.contentOctets = contentBefore.length + contentAfter.length;
    const data = this.hasContent ? [headOf(FrameType.DATA, this.contentOctets, true)] : [];
    this.#after = Buffer.concat([rest, ...data, contentBefore, contentAfter]);
  }

  #compileContent(encoder: Encoder): void {
    const { contentBefore, contentAfter } = this.form;
    const block = compiled(encoder, this.fieldsFor(''));
    this.#dataAt = FRAME_HEAD_OCTETS + block.length;
    const data = headOf(FrameType.DATA, 0, true);
    const headers = headOf(FrameType.HEADERS, block.length, false);
    this.#before = Buffer.concat([headers, block, data, contentBefore]);
    this.#after = contentAfter;
  }

  #pseudoFields(): readonly Field[] {
    const { method, scheme, authority } = this.form;
    return [
      { name: ':method', value: method, indexing: 'incremental' },
      { name: ':scheme', value: scheme, indexing: 'incremental' },
      { name: ':authority', value: authority, indexing: 'incremental' },
    ];
  }
}

/** The field block alone, without insertions. */
function compiled(encoder: Encoder, fields: readonly Field[]): Buffer {
  const room = Buffer.alloc(fieldsSizeMax(fields));
  return room.subarray(0, encoder.compile(fields, room, 0));
}

/** A frame's head for stream 0, to be filled in. */
function headOf(type: number, length: number, isEndStream: boolean): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_OCTETS);
  const endHeaders = type === FrameType.HEADERS ? Flag.END_HEADERS : Flag.NONE;
  const flags = endHeaders | (isEndStream ? Flag.END_STREAM : Flag.NONE);
  writeFrameHead(head, 0, { length, type, flags, streamId: 0 });
  return head;
}

const NOT_VISIBLE_ASCII = /[^\x21-\x7e]/;

/** A character that is not visible ASCII would make another request of this one. */
function checkPathValue(value: string): string {
  if (NOT_VISIBLE_ASCII.test(value)) throw new TypeError('a path holds visible ASCII only');
  return value;
}
