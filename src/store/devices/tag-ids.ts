/**
 * Tags of a device as its row has them: sorted, without repetitions; and as the text of a
 * PostgreSQL array.
 */

/**
 * Reads `tag_ids::text`. The driver's own way takes each element apart as if it could be anything.
 */
export const readTagIds = (text: string): readonly number[] =>
  text === '{}' ? [] : JSON.parse(`[${text.slice(1, -1)}]`);

/**
 * For `::text[]`, each of which the statement casts to `int[]`: an array of arrays must have rows
 * of one length.
 */
export const writeTagIds = (tagIds: readonly number[]): string => `{${tagIds.join(',')}}`;
