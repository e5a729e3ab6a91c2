/** Counts in sentences: `1 device`, `1,234 devices`. */

/** `1,234,567` */
export const format = (count: number): string => count.toLocaleString('en');

/** A count with its noun, in the singular for one. `many`: the plural, where it is not `…s`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${format(count)} ${count === 1 ? one : many}`;
