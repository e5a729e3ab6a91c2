/** Stands in place of the value of a flag that is taken away. */
export const NONE = 'none';

/** Null: there is to be none. */
export const orNull = (text: string): string | null => (text === NONE ? null : text);
