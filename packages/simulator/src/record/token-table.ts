/**
 * Two million tokens and their counts, without an object for each. They are stored on pages one
 * after the other, `[bytes, count, repeats, newest pushes, the token in UTF-8, padded to whole
 * words]`. A table of slots, chosen by hash, holds their addresses: the number of the page, and the
 * place on it.
 */

import type { TokenNotes } from './token-notes.ts';
import { WORD_BYTES, wordsOf } from './token-notes.ts';

/**
 * 110 bytes for an APNs token, 240 for an FCM token, and 16 for its slots.
 * @limit tokens with counts, of each simulated provider → answered, not recorded
 */
export const TOKENS_MAX = 2_000_000;

/**
 * A power of two, doubled before half of them is in use, so that a search ends after a slot or two.
 * A table of the size for TOKENS_MAX from the start would take a page of memory for each of the
 * first tokens.
 */
const SLOTS_MIN = 2 ** 12;

/**
 * The address, and the hash: most other tokens in the slots differ in it, without a look at the
 * page.
 */
const SLOT_WORDS = 2;

/** 1 MiB, which holds any token. */
const PAGE_BITS = 18;
const PAGE_WORDS = 2 ** PAGE_BITS;

/**
 * 1 GiB: more than twice the need of TOKENS_MAX tokens of FCM's usual length.
 * @limit pages of 1 MiB for these tokens, of each simulated provider → answered, not recorded
 */
const PAGES_MAX = 1_024;

/**
 * The newest pushes of a token are remembered: more are hardly under way to one device at a time.
 * @limit newest pushes remembered of a token → an older one that reaches it again is no duplicate
 */
export const PUSHES_PER_TOKEN = 8;

/** Bytes, count, repeats and the pushes, before the token itself. */
const HEAD_WORDS = 3 + PUSHES_PER_TOKEN;

/** Not the address of any token: the first page begins after it. */
export const NOWHERE = 0;

interface Page {
  readonly words: Int32Array;
  used: number;
}

export class TokenTable {
  /** Allocated with the first token. */
  #slots: Int32Array | undefined;
  readonly #pages: Page[] = [];
  /**
   * Takes the values that were read ahead: without a use of them, the compiler would not read them.
   */
  readonly #seen = new Int32Array(1);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * Reads the slots where the searches for these hashes will begin, so that they are in the cache
   * by then. The reads do not depend on each other, and the loop does nothing else, so the
   * processor has dozens of them under way at a time.
   */
  readAhead(hashes: Int32Array, count: number): void {
    const slots = this.#slots;
    if (slots === undefined) return;
    let seen = 0;
    for (let index = 0; index < count; index += 1) {
      seen ^= slots[firstSlot(slots, hashes[index] ?? 0)] ?? 0;
    }
    this.#seen[0] = seen;
  }

  /** The address of a noted token; NOWHERE when the table does not have it. */
  find(notes: TokenNotes, note: number, hash: number): number {
    const slots = this.#slots;
    if (slots === undefined) return NOWHERE;
    return slots[this.#slotOf(slots, notes, note, hash)] ?? NOWHERE;
  }

  /** The address of a noted token, which is entered if it is new; NOWHERE when there is no room. */
  enter(notes: TokenNotes, note: number, hash: number): number {
    this.#slots ??= new Int32Array(SLOTS_MIN * SLOT_WORDS);
    if (this.#size * SLOT_WORDS * 2 >= this.#slots.length) this.#slots = doubled(this.#slots);
    const slots = this.#slots;
    const slot = this.#slotOf(slots, notes, note, hash);
    const known = slots[slot] ?? NOWHERE;
    if (known !== NOWHERE || this.#size >= TOKENS_MAX) return known;
    const address = this.#append(notes, note);
    if (address === NOWHERE) return NOWHERE;
    slots[slot] = address;
    slots[slot + 1] = hash;
    this.#size += 1;
    return address;
  }

  countOf(address: number): number {
    return this.#wordsAt(address)[placeOf(address) + 1] ?? 0;
  }

  /** The number of counts by a push that had reached the token before. */
  repeatsOf(address: number): number {
    return this.#wordsAt(address)[placeOf(address) + 2] ?? 0;
  }

  /**
   * Adds one to the count. Returns whether this push, a number that is not 0, was counted here
   * before.
   */
  increment(address: number, push: number): boolean {
    const words = this.#wordsAt(address);
    const place = placeOf(address);
    const count = words[place + 1] ?? 0;
    const repeats = words[place + 2] ?? 0;
    words[place + 1] = count + 1;
    for (let index = 0; index < PUSHES_PER_TOKEN; index += 1) {
      if (words[place + 3 + index] !== push) continue;
      words[place + 2] = repeats + 1;
      return true;
    }
    // The number of pushes so far gives the place, which is that of the oldest push once all are
    // taken.
    words[place + 3 + ((count - repeats) % PUSHES_PER_TOKEN)] = push;
    return false;
  }

  tokenAt(address: number): string {
    const words = this.#wordsAt(address);
    const place = placeOf(address);
    const start = (place + HEAD_WORDS) * WORD_BYTES;
    return Buffer.from(words.buffer, start, words[place] ?? 0).toString();
  }

  /** All addresses, in the order in which they were entered. */
  *addresses(): Generator<number> {
    for (const [index, { words, used }] of this.#pages.entries()) {
      let place = firstPlace(index);
      while (place < used) {
        yield index * PAGE_WORDS + place;
        place += HEAD_WORDS + wordsOf(words[place] ?? 0);
      }
    }
  }

  /** The slot that holds the token, or the free one where the search for it ended. */
  #slotOf(slots: Int32Array, notes: TokenNotes, note: number, hash: number): number {
    let slot = firstSlot(slots, hash);
    for (;;) {
      const address = slots[slot] ?? NOWHERE;
      if (address === NOWHERE) return slot;
      if (slots[slot + 1] === hash && this.#isAt(address, notes, note)) return slot;
      slot = (slot + SLOT_WORDS) % slots.length;
    }
  }

  #isAt(address: number, notes: TokenNotes, note: number): boolean {
    const words = this.#wordsAt(address);
    const place = placeOf(address);
    const bytes = notes.bytesOf(note);
    if (words[place] !== bytes) return false;
    const noteStart = notes.startOf(note);
    const count = wordsOf(bytes);
    for (let index = 0; index < count; index += 1) {
      if (words[place + HEAD_WORDS + index] !== notes.words[noteStart + index]) return false;
    }
    return true;
  }

  /** Copies the token to the end of the last page, or to a new one. */
  #append(notes: TokenNotes, note: number): number {
    const bytes = notes.bytesOf(note);
    const count = wordsOf(bytes);
    let page = this.#pages.at(-1);
    if (page === undefined || page.used + HEAD_WORDS + count > PAGE_WORDS) {
      if (this.#pages.length >= PAGES_MAX) return NOWHERE;
      page = { words: new Int32Array(PAGE_WORDS), used: firstPlace(this.#pages.length) };
      this.#pages.push(page);
    }
    const { words, used: place } = page;
    words[place] = bytes;
    const noteStart = notes.startOf(note);
    for (let index = 0; index < count; index += 1) {
      words[place + HEAD_WORDS + index] = notes.words[noteStart + index] ?? 0;
    }
    page.used = place + HEAD_WORDS + count;
    return (this.#pages.length - 1) * PAGE_WORDS + place;
  }

  #wordsAt(address: number): Int32Array {
    return this.#pages[address >>> PAGE_BITS]?.words ?? NO_WORDS;
  }
}

/** For an invalid address. */
const NO_WORDS = new Int32Array(0);

function firstSlot(slots: Int32Array, hash: number): number {
  return (hash * SLOT_WORDS) & (slots.length - SLOT_WORDS);
}

/** The same tokens, in twice as many slots. */
function doubled(slots: Int32Array): Int32Array {
  const more = new Int32Array(slots.length * 2);
  for (let from = 0; from < slots.length; from += SLOT_WORDS) {
    const address = slots[from] ?? NOWHERE;
    if (address === NOWHERE) continue;
    const hash = slots[from + 1] ?? 0;
    let slot = firstSlot(more, hash);
    while (more[slot] !== NOWHERE) slot = (slot + SLOT_WORDS) % more.length;
    more[slot] = address;
    more[slot + 1] = hash;
  }
  return more;
}

function placeOf(address: number): number {
  return address & (PAGE_WORDS - 1);
}

function firstPlace(page: number): number {
  return page === 0 ? NOWHERE + 1 : 0;
}
