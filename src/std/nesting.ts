/** How deep the JSON of a stranger is nested: recursion over it needs an end. */

/** Whether arrays and objects stand in each other to so many levels at most. */
export function isNestedWithin(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isNestedWithin(part, levels - 1));
}
