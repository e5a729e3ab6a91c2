/**
 * A text in lower-case hexadecimal, kept as its octets in the buffer around them. A million such
 * texts are written out without ever being strings, which would cost more than all other work on
 * them.
 */
export class HexOctets {
  readonly #bytes: Buffer;
  readonly #start: number;
  readonly #end: number;

  /** The octets `bytes[start, end)`, never changed again. */
  constructor(bytes: Buffer, start: number, end: number) {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** Characters of the text. */
  get length(): number {
    return 2 * (this.#end - this.#start);
  }

  write(into: Buffer, offset: number): void {
    const bytes = this.#bytes;
    const end = this.#end;
    let to = offset;
    for (let from = this.#start; from < end; from += 1) {
      const octet = bytes[from] as number;
      into[to] = HIGH_DIGITS[octet] as number;
      into[to + 1] = LOW_DIGITS[octet] as number;
      to += 2;
    }
  }

  toString(): string {
    return this.#bytes.toString('hex', this.#start, this.#end);
  }
}

const DIGITS = Buffer.from('0123456789abcdef');
/** The character of each octet's upper half, and of its lower one. */
const HIGH_DIGITS = Uint8Array.from({ length: 256 }, (_, octet) => DIGITS[octet >> 4] ?? 0);
const LOW_DIGITS = Uint8Array.from({ length: 256 }, (_, octet) => DIGITS[octet & 15] ?? 0);
