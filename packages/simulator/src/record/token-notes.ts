/**
 * Tokens that have arrived and are not entered in the table yet: their bytes one after the other,
 * and a hash of each.
 */

/**
 * Enough notes that their waits for memory overlap, few enough to stay in the processor's cache.
 */
export const NOTES_MAX = 512;

/** Room for this many common tokens, and for one that is as long as a whole request. */
const BYTES_MAX = 262_144;

/** UTF-8 takes three bytes at most for one unit of a string. */
const BYTES_PER_UNIT_MAX = 3;

export const WORD_BYTES = 4;

/** The push of a message that names none: all such messages count as of the same push. */
export const NO_PUSH = 1;

export class TokenNotes {
  readonly words = new Int32Array(BYTES_MAX / WORD_BYTES);
  readonly #bytes = Buffer.from(this.words.buffer);
  readonly #starts = new Int32Array(NOTES_MAX);
  readonly #lengths = new Int32Array(NOTES_MAX);
  readonly #pushes = new Int32Array(NOTES_MAX);
  #count = 0;
  #wordsUsed = 0;

  get count(): number {
    return this.#count;
  }

  hasRoom(token: string): boolean {
    const bytesLeft = BYTES_MAX - this.#wordsUsed * WORD_BYTES;
    return this.#count < NOTES_MAX && token.length * BYTES_PER_UNIT_MAX + WORD_BYTES <= bytesLeft;
  }

  /** Notes a token that there is room for, and the push that reached it. */
  write(token: string, push: number): void {
    const start = this.#wordsUsed;
    const bytes = this.#bytes.write(token, start * WORD_BYTES);
    const end = start + wordsOf(bytes);
    // The last word is compared whole, so the bytes after the token must not be left from an
    // earlier one.
    for (let byte = start * WORD_BYTES + bytes; byte < end * WORD_BYTES; byte += 1) {
      this.#bytes[byte] = 0;
    }
    this.#starts[this.#count] = start;
    this.#lengths[this.#count] = bytes;
    this.#pushes[this.#count] = push;
    this.#wordsUsed = end;
    this.#count += 1;
  }

  /** Where the token begins in `words`. */
  startOf(note: number): number {
    return this.#starts[note] ?? 0;
  }

  bytesOf(note: number): number {
    return this.#lengths[note] ?? 0;
  }

  pushOf(note: number): number {
    return this.#pushes[note] ?? NO_PUSH;
  }

  hashOf(note: number): number {
    const start = this.startOf(note);
    const bytes = this.bytesOf(note);
    const end = start + wordsOf(bytes);
    let hash = bytes;
    for (let index = start; index < end; index += 1) {
      hash = Math.imul(hash ^ (this.words[index] ?? 0), 0x9e3779b1);
      // A product carries only upwards. This moves the high bits down, where the slot is chosen.
      hash ^= hash >>> 15;
    }
    return hash;
  }

  clear(): void {
    this.#count = 0;
    this.#wordsUsed = 0;
  }
}

export function wordsOf(bytes: number): number {
  return Math.ceil(bytes / WORD_BYTES);
}
