/**
 * The first step of reading a file: octets become the texts of records, each with its line, none
 * longer than a limit.
 */

export type RawRecord =
  | { readonly kind: 'text'; readonly line: number; readonly text: string }
  | { readonly kind: 'fault'; readonly line: number; readonly sentence: string };

/**
 * Gets a file's octets from its beginning. Its results depend only on them, not on how they were
 * cut into chunks.
 */
export interface Splitter {
  /** Returns the records that are complete now. */
  push(chunk: Buffer): readonly RawRecord[];
  /** Returns the records that are left at the end of the file. */
  end(): readonly RawRecord[];
}

/**
 * A device with 5,000 tags (TAGS_PER_DEVICE_MAX), each with sourceId, id and name, is smaller.
 * @limit a record of a file → a bad record
 */
export const RECORD_OCTETS_MAX = 2 * 1_024 * 1_024;

/** The fault of a record above the limit. */
export const tooLong = (line: number): RawRecord => ({
  kind: 'fault',
  line,
  sentence: `is longer than ${RECORD_OCTETS_MAX} bytes.`,
});
