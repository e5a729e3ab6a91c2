/**
 * Finds fields in a table by name and value, for the encoder. It never inserts a field that it
 * finds, so no two entries are equal.
 */

/** The numbers of the entries that have one name. */
interface NamedEntries {
  /** The entry that stays longest. */
  newest: number;
  readonly byValue: Map<string, number>;
}

export class FieldIndex {
  readonly #byName = new Map<string, NamedEntries>();

  get(name: string): NamedEntries | undefined {
    return this.#byName.get(name);
  }

  add(name: string, value: string, number: number): void {
    const entries = this.#byName.get(name);
    if (entries === undefined) {
      this.#byName.set(name, { newest: number, byValue: new Map([[value, number]]) });
      return;
    }
    entries.newest = number;
    entries.byValue.set(value, number);
  }

  /** Forgets the entry. Entries leave in the order in which they were added. */
  remove(name: string, value: string, number: number): void {
    const entries = this.#byName.get(name);
    if (entries === undefined) return;
    if (entries.newest === number) this.#byName.delete(name);
    else entries.byValue.delete(value);
  }
}
