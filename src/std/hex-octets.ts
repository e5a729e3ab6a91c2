/** A text in lower-case hexadecimal, kept as octets: a million of them never become strings. */
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
const HIGH_DIGITS = Uint8Array.from({ length: 256 }, (_, octet) => DIGITS[octet >> 4] ?? 0);
const LOW_DIGITS = Uint8Array.from({ length: 256 }, (_, octet) => DIGITS[octet & 15] ?? 0);
