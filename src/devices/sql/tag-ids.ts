/** Reads the tags of a device as its row has them: sorted, without repetitions. */

/** Reads `tag_ids::text`: the driver's own parser treats each element as any text. */
export const readTagIds = (text: string): readonly number[] =>
  text === '{}' ? [] : JSON.parse(`[${text.slice(1, -1)}]`);
