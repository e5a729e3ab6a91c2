/**
 * Counts tokens, several hundred thousand times a second. A Map of strings spends most of its time
 * waiting for memory once it holds a million. Here an arriving token is only noted. When the notes
 * are full, or a caller reads the counts, all notes are entered, and their waits overlap.
 */

import { NO_PUSH, NOTES_MAX, TokenNotes } from './token-notes.ts';
import { NOWHERE, TokenTable } from './token-table.ts';

export class TokenCounts {
  readonly #notes = new TokenNotes();
  readonly #hashes = new Int32Array(NOTES_MAX);
  #table = new TokenTable();
  #repeats = 0;
  #turnedAway = 0;

  /** Counts the token once more, for this push. */
  increment(token: string, push: number = NO_PUSH): void {
    if (!this.#notes.hasRoom(token)) this.#settle();
    if (this.#notes.hasRoom(token)) this.#notes.write(token, push);
    else this.#turnedAway += 1;
  }

  /** Lists the token, even with a count of 0; false when there is no room for it. */
  admit(token: string): boolean {
    const table = this.#settle();
    const isListed = this.#withNote(token, (hash) => table.enter(this.#notes, 0, hash)) !== NOWHERE;
    if (!isListed) this.#turnedAway += 1;
    return isListed;
  }

  countOf(token: string): number {
    const table = this.#settle();
    const address = this.#withNote(token, (hash) => table.find(this.#notes, 0, hash));
    return address === NOWHERE ? 0 : table.countOf(address);
  }

  /** The number of counts by a push that had reached the token before. */
  repeatsOf(token: string): number {
    const table = this.#settle();
    const address = this.#withNote(token, (hash) => table.find(this.#notes, 0, hash));
    return address === NOWHERE ? 0 : table.repeatsOf(address);
  }

  has(token: string): boolean {
    const table = this.#settle();
    return this.#withNote(token, (hash) => table.find(this.#notes, 0, hash)) !== NOWHERE;
  }

  /**
   * The listed tokens, the counts by a push that had reached its token before, and the tokens for
   * which there was no room.
   */
  totals(): { readonly tokens: number; readonly repeats: number; readonly turnedAway: number } {
    const tokens = this.#settle().size;
    return { tokens, repeats: this.#repeats, turnedAway: this.#turnedAway };
  }

  /**
   * Every token with its count, in the order of arrival. The caller reads a token's text if it
   * needs it.
   */
  *entries(): Generator<{ readonly count: number; readonly readToken: () => string }> {
    const table = this.#settle();
    for (const address of table.addresses()) {
      yield { count: table.countOf(address), readToken: () => table.tokenAt(address) };
    }
  }

  clear(): void {
    this.#notes.clear();
    this.#table = new TokenTable();
    this.#repeats = 0;
    this.#turnedAway = 0;
  }

  /** Enters all notes; afterwards the table is up to date. */
  #settle(): TokenTable {
    const table = this.#table;
    const notes = this.#notes;
    for (let note = 0; note < notes.count; note += 1) this.#hashes[note] = notes.hashOf(note);
    table.readAhead(this.#hashes, notes.count);
    for (let note = 0; note < notes.count; note += 1) {
      const address = table.enter(notes, note, this.#hashes[note] ?? 0);
      if (address === NOWHERE) this.#turnedAway += 1;
      else if (table.increment(address, notes.pushOf(note))) this.#repeats += 1;
    }
    notes.clear();
    return table;
  }

  /** Looks a token up in the table with a temporary note; the notes must be empty. */
  #withNote(token: string, ask: (hash: number) => number): number {
    if (!this.#notes.hasRoom(token)) return NOWHERE;
    this.#notes.write(token, NO_PUSH);
    const address = ask(this.#notes.hashOf(0));
    this.#notes.clear();
    return address;
  }
}
