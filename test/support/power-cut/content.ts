/** The octets of a file, which grow as it is written. */
export class Content {
  #octets: Buffer;
  #size: number;

  constructor(octets: Buffer) {
    this.#octets = octets;
    this.#size = octets.length;
  }

  get octets(): Buffer {
    return this.#octets.subarray(0, this.#size);
  }

  copy(): Content {
    return new Content(Buffer.from(this.octets));
  }

  write(position: number, data: Buffer): void {
    const end = position + data.length;
    if (end > this.#octets.length) {
      const larger = Buffer.alloc(Math.max(end, this.#octets.length * 2));
      this.octets.copy(larger);
      this.#octets = larger;
    }
    data.copy(this.#octets, position);
    this.#size = Math.max(this.#size, end);
  }

  /** A file that becomes longer has zeros there. */
  truncate(size: number): void {
    if (size > this.#size) this.write(this.#size, Buffer.alloc(size - this.#size));
    this.#octets.fill(0, size);
    this.#size = size;
  }
}
