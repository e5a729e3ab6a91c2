/** How tags and groups are named on the command line: as in audience expressions. */

const ID = /^#(\d+)$/;

/** `#7` is the tag with the id 7; anything else is a source id. */
type Named =
  | { readonly id: number; readonly sourceId?: never }
  | { readonly sourceId: string; readonly id?: never };

export function readName(text: string): Named {
  const [, id] = ID.exec(text) ?? [];
  return id === undefined ? { sourceId: text } : { id: Number(id) };
}

/** Several, apart by kind, as a push takes them; a kind that does not occur is left out. */
export function readNames(texts: readonly string[]): {
  readonly ids?: readonly number[];
  readonly sourceIds?: readonly string[];
} {
  const names = texts.map(readName);
  const ids = names.flatMap(({ id }) => (id === undefined ? [] : [id]));
  const sourceIds = names.flatMap(({ sourceId }) => (sourceId === undefined ? [] : [sourceId]));
  return {
    ...(ids.length === 0 ? {} : { ids }),
    ...(sourceIds.length === 0 ? {} : { sourceIds }),
  };
}

export const NAME_NOTES = "A tag or group is named by its source id, or as '#7' by its id.";
