/** The place of a fault in a text, as people find it. */

export interface Place {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** `position`: UTF-16 code units from 0. */
export function placeOf(text: string, position: number): Place {
  const before = text.slice(0, position).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}
