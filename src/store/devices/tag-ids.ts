/**
 * Reads and writes the tags of a device (in its row: sorted, without repetitions) as the text of a
 * PostgreSQL array.
 */

/**
 * Reads `tag_ids::text`. The driver's own parser treats each element as if it could be any text.
 */
export const readTagIds = (text: string): readonly number[] =>
  text === '{}' ? [] : JSON.parse(`[${text.slice(1, -1)}]`);

/**
 * For `::text[]`; the statement casts each element to `int[]`. An array of arrays would need rows
 * of one length.
 */
export const writeTagIds = (tagIds: readonly number[]): string => `{${tagIds.join(',')}}`;
