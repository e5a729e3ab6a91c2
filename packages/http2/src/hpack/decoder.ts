/**
 * Decodes field blocks into fields (RFC 7541, 3, RFC 9113, 4.3): the one decoder of a connection,
 * in step with the peer's encoder.
 */

import { BlockMemo } from './block-memo.ts';
import { compressionError } from './compression-error.ts';
import type { Cursor } from './cursor.ts';
import { DynamicTable, INITIAL_TABLE_SIZE_MAX } from './dynamic-table.ts';
import type { Field, FieldSection, Indexing } from './field.ts';
import { fieldSize } from './field.ts';
import { readInteger } from './integer.ts';
import { STATIC_TABLE } from './static-table.ts';
import { readString } from './string-literal.ts';

interface DecoderLimits {
  /**
   * Octets of the table that the peer may use from its first block on: 4096 until it has
   * acknowledged our SETTINGS.
   */
  readonly tableSizeMax: number;
  /** A larger list, counted as in RFC 9113, 6.5.2, is returned without its fields. */
  readonly listSizeMax: number;
}

/** The result for a list that is too large. */
const TOO_LARGE: FieldSection = { fields: [], isTooLarge: true };

export class Decoder {
  readonly #listSizeMax: number;
  readonly #table: DynamicTable;
  readonly #memo = new BlockMemo();
  #tableSizeMax: number;
  /** The peer must announce a table of at most this size before anything else (RFC 7541, 4.2). */
  #owedSizeMax = Number.POSITIVE_INFINITY;

  constructor(limits: DecoderLimits) {
    this.#listSizeMax = limits.listSizeMax;
    this.#tableSizeMax = limits.tableSizeMax;
    this.#table = new DynamicTable(Math.min(limits.tableSizeMax, INITIAL_TABLE_SIZE_MAX));
  }

  /**
   * Decodes one complete field block in bytes[start, end). Throws
   * ConnectionError(COMPRESSION_ERROR). A list that grows beyond `listSizeMax` is decoded to its
   * end, so that the table stays in step, but its fields are dropped.
   */
  decode(bytes: Buffer, start: number, end: number): FieldSection {
    const known = this.#memo.find(bytes, start, end, this.#table.epoch);
    if (known !== null) return known;
    const epoch = this.#table.epoch;
    const cursor: Cursor = { bytes, end, offset: start };
    this.#readSizeUpdates(cursor);
    const section = this.#readFields(cursor);
    if (this.#table.epoch === epoch) this.#memo.keep(bytes, start, end, epoch, section);
    return section;
  }

  /**
   * Applies our SETTINGS_HEADER_TABLE_SIZE, which the peer has acknowledged. If the peer uses more,
   * a size update is due.
   */
  setTableSizeMax(octets: number): void {
    this.#tableSizeMax = octets;
    this.#memo.clear();
    if (octets < this.#table.sizeMax) this.#owedSizeMax = Math.min(this.#owedSizeMax, octets);
  }

  /**
   * Only a block's beginning may change the table's size (RFC 7541, 4.2): first to the lowest since
   * the last block, then to the present one.
   */
  #readSizeUpdates(cursor: Cursor): void {
    while (isSizeUpdate(cursor)) {
      const octets = readInteger(cursor, 5);
      if (octets > this.#tableSizeMax) throw compressionError('a table larger than the limit');
      if (octets <= this.#owedSizeMax) this.#owedSizeMax = Number.POSITIVE_INFINITY;
      this.#table.setSizeMax(octets);
    }
    if (this.#owedSizeMax !== Number.POSITIVE_INFINITY) {
      throw compressionError('no size update after the limit was lowered');
    }
  }

  #readFields(cursor: Cursor): FieldSection {
    const fields: Field[] = [];
    let listSize = 0;
    while (cursor.offset < cursor.end) {
      const field = this.#readField(cursor);
      listSize += fieldSize(field.name, field.value);
      if (listSize <= this.#listSizeMax) fields.push(field);
    }
    return listSize <= this.#listSizeMax ? { fields, isTooLarge: false } : TOO_LARGE;
  }

  /** The first bits name the representation (RFC 7541, 6). */
  #readField(cursor: Cursor): Field {
    const first = cursor.bytes[cursor.offset] ?? 0;
    if (first >= 0x80) return this.#entry(readInteger(cursor, 7));
    if (first >= 0x40) {
      const field = this.#readLiteral(cursor, 6, 'incremental');
      this.#table.insert(field);
      return field;
    }
    if (first >= 0x20) throw compressionError('a size update after a field');
    return this.#readLiteral(cursor, 4, first >= 0x10 ? 'never' : 'without');
  }

  #readLiteral(cursor: Cursor, prefixBits: number, indexing: Indexing): Field {
    const index = readInteger(cursor, prefixBits);
    const name = index === 0 ? readString(cursor) : this.#entry(index).name;
    return { name, value: readString(cursor), indexing };
  }

  /** Both tables form one space of indices, from 1 (RFC 7541, 2.3.3). */
  #entry(index: number): Field {
    const entry = STATIC_TABLE[index - 1] ?? this.#table.get(index - STATIC_TABLE.length);
    if (entry === undefined) throw compressionError(`index ${index} is in no table`);
    return entry;
  }
}

const isSizeUpdate = ({ bytes, offset, end }: Cursor): boolean =>
  offset < end && ((bytes[offset] ?? 0) & 0xe0) === 0x20;
