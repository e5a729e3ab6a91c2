/**
 * Header fields and the sections that they form, as HPACK carries them. Names and values are
 * Latin-1: a character is an octet.
 */

/**
 * How a field is written (RFC 7541, 6.2): into the dynamic table, as a literal, or as a literal
 * that no intermediary may index.
 */
export type Indexing = 'incremental' | 'without' | 'never';

export interface Field {
  readonly name: string;
  readonly value: string;
  /** From the decoder: the form of the literal; a field from a table is 'incremental'. */
  readonly indexing: Indexing;
}

/**
 * A decoded field section (RFC 9113, 4.3, 8.2). Immutable; the same object may be handed out again
 * for the same block.
 */
export interface FieldSection {
  readonly fields: readonly Field[];
  /** The list was larger than we accept; its fields were dropped. */
  readonly isTooLarge: boolean;
}

/**
 * The cost of an entry besides its text, in a table (RFC 7541, 4.1) and in a list (RFC 9113,
 * 6.5.2).
 */
const FIELD_OVERHEAD_OCTETS = 32;

/** The size of a field as both RFCs count it. */
export const fieldSize = (name: string, value: string): number =>
  name.length + value.length + FIELD_OVERHEAD_OCTETS;
