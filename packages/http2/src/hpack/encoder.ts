/**
 * Encodes fields into field blocks (RFC 7541, 6, RFC 9113, 4.3): the one encoder of a connection,
 * in step with the peer's decoder.
 */

import { DynamicTable, INITIAL_TABLE_SIZE_MAX } from './dynamic-table.ts';
import type { Field } from './field.ts';
import { fieldSize } from './field.ts';
import { FieldIndex } from './field-index.ts';
import { INTEGER_OCTETS_MAX, writeInteger } from './integer.ts';
import { STATIC_TABLE } from './static-table.ts';
import { writeString } from './string-literal.ts';

/**
 * An entry takes no more than this share of the table: a larger one would evict most of the useful
 * entries, for one use.
 */
const ENTRY_SHARE_MAX = 1 / 2;

export class Encoder {
  readonly #ownSizeMax: number;
  readonly #table: DynamicTable;
  readonly #index = new FieldIndex();
  /**
   * The size that the peer's decoder knows, and the lowest that it must still learn (RFC 7541,
   * 4.2).
   */
  #toldSizeMax = INITIAL_TABLE_SIZE_MAX;
  #lowestSizeMax: number;

  /** `tableSizeMax`: the most that we use of the peer's table, however much it allows. */
  constructor(tableSizeMax: number = INITIAL_TABLE_SIZE_MAX) {
    this.#ownSizeMax = tableSizeMax;
    this.#lowestSizeMax = Math.min(tableSizeMax, INITIAL_TABLE_SIZE_MAX);
    this.#table = new DynamicTable(this.#lowestSizeMax, ({ name, value }, number) =>
      this.#index.remove(name, value, number),
    );
  }

  /**
   * Rises whenever the meaning of an index may have changed: insertion, eviction, change of size.
   * Octets that `compile` wrote are valid while it stays the same.
   */
  get epoch(): number {
    return this.#table.epoch;
  }

  /**
   * Applies the peer's SETTINGS_HEADER_TABLE_SIZE. The next block begins with the size updates for
   * it.
   */
  setTableSizeMax(octets: number): void {
    const sizeMax = Math.min(octets, this.#ownSizeMax);
    if (sizeMax === this.#table.sizeMax) return;
    this.#table.setSizeMax(sizeMax);
    this.#lowestSizeMax = Math.min(this.#lowestSizeMax, sizeMax);
  }

  /**
   * Writes a complete block and inserts 'incremental' fields that are in no table; returns the
   * offset after it. `into` has room for `fieldsSizeMax(fields)`. The block must reach the peer, so
   * that its table changes as ours did.
   */
  encode(fields: readonly Field[], into: Buffer, offset: number): number {
    refuseWideText(fields);
    let end = this.#writeSizeUpdates(into, offset);
    for (const field of fields) end = this.#writeField(field, into, end, true);
    return end;
  }

  /**
   * The same without insertions, for octets that are kept and sent many times. After a change of
   * the table's size, `encode` must come first, so that the peer knows it.
   */
  compile(fields: readonly Field[], into: Buffer, offset: number): number {
    refuseWideText(fields);
    if (this.#owesSizeUpdate())
      throw new Error('The peer has yet to hear of the size of the table');
    let end = offset;
    for (const field of fields) end = this.#writeField(field, into, end, false);
    return end;
  }

  #owesSizeUpdate(): boolean {
    return this.#lowestSizeMax < this.#toldSizeMax || this.#table.sizeMax !== this.#toldSizeMax;
  }

  /**
   * The lowest size since the last block, so that the peer evicts the same entries, then the
   * present one.
   */
  #writeSizeUpdates(into: Buffer, offset: number): number {
    if (!this.#owesSizeUpdate()) return offset;
    const { sizeMax } = this.#table;
    let end = offset;
    if (this.#lowestSizeMax < Math.min(sizeMax, this.#toldSizeMax)) {
      end = writeInteger(into, end, 0x20, 5, this.#lowestSizeMax);
    }
    this.#toldSizeMax = sizeMax;
    this.#lowestSizeMax = sizeMax;
    return writeInteger(into, end, 0x20, 5, sizeMax);
  }

  #writeField(field: Field, into: Buffer, offset: number, mayInsert: boolean): number {
    const { name, value, indexing } = field;
    const fixed = STATIC_INDEX.get(name);
    const named = this.#index.get(name);
    // A field that must never be indexed stays a literal, even if it was indexed before (RFC 7541,
    // 7.1.3).
    if (indexing !== 'never') {
      const index = fixed?.byValue.get(value) ?? this.#dynamicIndex(named?.byValue.get(value));
      if (index !== undefined) return writeInteger(into, offset, 0x80, 7, index);
    }
    const nameIndex = fixed?.newest ?? this.#dynamicIndex(named?.newest) ?? 0;
    if (indexing === 'incremental' && mayInsert && this.#isWorthInserting(field)) {
      const end = writeLiteral(field, into, offset, 0x40, 6, nameIndex);
      this.#insert(field);
      return end;
    }
    return writeLiteral(field, into, offset, indexing === 'never' ? 0x10 : 0, 4, nameIndex);
  }

  #dynamicIndex(number: number | undefined): number | undefined {
    return number === undefined ? undefined : STATIC_TABLE.length + this.#table.indexOf(number);
  }

  #isWorthInserting({ name, value }: Field): boolean {
    return fieldSize(name, value) <= this.#table.sizeMax * ENTRY_SHARE_MAX;
  }

  #insert(field: Field): void {
    const number = this.#table.insert(field);
    if (number !== null) this.#index.add(field.name, field.value, number);
  }
}

/** An upper bound for the encoded octets of the fields, size updates included. */
export function fieldsSizeMax(fields: readonly Field[]): number {
  let octets = 2 * INTEGER_OCTETS_MAX;
  for (const { name, value } of fields) octets += LITERAL_OVERHEAD_MAX + name.length + value.length;
  return octets;
}

/** The first octet of a literal, and the lengths of its two strings. */
const LITERAL_OVERHEAD_MAX = 1 + 2 * INTEGER_OCTETS_MAX;

/**
 * The static table's entries, numbered by their index. They are added from the end, so that a name
 * finds its lowest index.
 */
const STATIC_INDEX = new FieldIndex();
for (const [position, { name, value }] of [...STATIC_TABLE.entries()].reverse()) {
  STATIC_INDEX.add(name, value, position + 1);
}

const WIDE = /[\u0100-\uffff]/;

/**
 * Called before anything is written or inserted: an incomplete block would leave the two tables
 * different.
 */
function refuseWideText(fields: readonly Field[]): void {
  for (const { name, value } of fields) {
    if (WIDE.test(name) || WIDE.test(value)) {
      throw new TypeError(`The field ${JSON.stringify(name)} holds a character that is no octet`);
    }
  }
}

function writeLiteral(
  { name, value }: Field,
  into: Buffer,
  offset: number,
  firstOctet: number,
  prefixBits: number,
  nameIndex: number,
): number {
  const start = writeInteger(into, offset, firstOctet, prefixBits, nameIndex);
  const valueStart = nameIndex === 0 ? writeString(name, into, start) : start;
  return writeString(value, into, valueStart);
}
