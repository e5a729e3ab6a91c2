/**
 * Decodes a chunked body as it arrives (RFC 9112, 7.1). Extensions and trailers are limited, and
 * discarded.
 */

import type { Malformed } from './front.ts';

/**
 * Size line or trailer line, with its CRLF: a size has eight digits at most, the rest is an
 * extension.
 * @limit a line of a chunked body → `431`
 */
const LINE_BYTES_MAX = 1_024;
/**
 * Extensions and trailers of a whole body: only attackers send any.
 * @limit all extensions and trailers of a chunked body → `431`
 */
const OVERHEAD_BYTES_MAX = 16_384;
/**
 * A chunk costs as much as a hundred bytes. If a body has more chunks than this, their average size
 * must be at least CHUNK_BYTES_MIN.
 * @limit chunks of a body, above which their average size has a lower bound → `400`
 */
const SMALL_CHUNKS_MAX = 1_024;
/** @limit average size of the chunks of a body that has more chunks than the above → `400` */
const CHUNK_BYTES_MIN = 64;
/**
 * A size of more digits is above every limit of a body. Extensions are parsed as strictly as by
 * Node's own parser.
 */
const SIZE_LINE =
  /^([\da-f]{1,8})(?:;[!#$%&'*+.^_`|~\dA-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~\dA-Za-z-]+|"[\t\x20-\x21\x23-\x5b\x5d-\x7e]*"))?)*$/i;
const FIELD_LINE = /^([!#$%&'*+.^_`|~\dA-Za-z-]+):[\t\x20-\x7e\x80-\xff]*$/;
/** A field that says where a message ends or goes must not be a trailer (RFC 9110, 6.5.1). */
const NO_TRAILERS = /^(?:connection|content-length|host|transfer-encoding)$/i;

const LF = 0x0a;
const CR = 0x0d;

const BAD_SIZE: Malformed = { status: 400, detail: 'A chunk does not begin with its size.' };
const BAD_END: Malformed = { status: 400, detail: 'A chunk is longer than its size.' };
const BAD_TRAILER: Malformed = {
  status: 400,
  detail: 'The last chunk is followed by something that is not a trailer.',
};
const TOO_SMALL: Malformed = { status: 400, detail: 'The body comes in too many small chunks.' };
const TOO_MUCH: Malformed = { status: 431, detail: 'Chunk extensions and trailers are too long.' };

/** The content of a piece of input. `rest` is the input after the end of the body. */
interface Unchunked {
  readonly data: Buffer;
  readonly isOver: boolean;
  readonly rest: Buffer;
}

const EMPTY = Buffer.alloc(0);

export class ChunkedBody {
  #state: 'size' | 'data' | 'data-end' | 'trailer' | 'over' = 'size';
  /** Bytes of the current chunk that are still to come. */
  #left = 0;
  /** The start of a line whose end has not arrived. */
  #line: Buffer = EMPTY;
  #overheadBytes = 0;
  #chunks = 0;
  /** The size of all chunks that have begun. */
  #bytes = 0;

  /** Decodes the next bytes from the connection. After a fault it must not be called again. */
  read(input: Buffer): Unchunked | Malformed {
    const pieces: Buffer[] = [];
    let rest = input;
    while (rest.length > 0 && this.#state !== 'over') {
      if (this.#state === 'data') {
        const piece = rest.subarray(0, this.#left);
        pieces.push(piece);
        this.#left -= piece.length;
        rest = rest.subarray(piece.length);
        if (this.#left === 0) this.#state = 'data-end';
        continue;
      }
      const end = rest.indexOf(LF);
      const part = end < 0 ? rest : rest.subarray(0, end + 1);
      rest = rest.subarray(part.length);
      const line = this.#lineWith(part, end >= 0);
      if (line === null) continue;
      const fault = typeof line === 'string' ? this.#take(line) : line;
      if (fault !== null) return fault;
    }
    // Returns one piece for each read: a megabyte in chunks of one byte must not become a million
    // buffers.
    const [first = EMPTY] = pieces;
    const data = pieces.length > 1 ? Buffer.concat(pieces) : first;
    return { data, isOver: this.#state === 'over', rest };
  }

  /** The line without its CRLF; null: its end has not arrived. */
  #lineWith(part: Buffer, isWhole: boolean): string | Malformed | null {
    const line = this.#line.length === 0 ? part : Buffer.concat([this.#line, part]);
    if (line.length > LINE_BYTES_MAX) return TOO_MUCH;
    this.#line = isWhole ? EMPTY : line;
    if (!isWhole) return null;
    // Two readers may disagree about a line that ends with LF alone.
    if (line[line.length - 2] !== CR) return this.#state === 'data-end' ? BAD_END : BAD_SIZE;
    return line.toString('latin1', 0, line.length - 2);
  }

  #take(line: string): Malformed | null {
    switch (this.#state) {
      case 'size':
        return this.#takeSize(line);
      case 'data-end':
        this.#state = 'size';
        return line === '' ? null : BAD_END;
      case 'trailer':
        if (line === '') this.#state = 'over';
        else if (!isTrailer(line)) return BAD_TRAILER;
        return this.#isOverheadWithin(line.length) ? null : TOO_MUCH;
      case 'data':
      case 'over':
        return null;
    }
  }

  #takeSize(line: string): Malformed | null {
    const [, digits] = SIZE_LINE.exec(line) ?? [];
    if (digits === undefined) return BAD_SIZE;
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'data';
    if (this.#left > 0 && this.#isTooSmall(this.#left)) return TOO_SMALL;
    return this.#isOverheadWithin(line.length - digits.length) ? null : TOO_MUCH;
  }

  #isTooSmall(bytes: number): boolean {
    this.#chunks += 1;
    this.#bytes += bytes;
    return this.#chunks > SMALL_CHUNKS_MAX && this.#bytes < this.#chunks * CHUNK_BYTES_MIN;
  }

  #isOverheadWithin(bytes: number): boolean {
    this.#overheadBytes += bytes;
    return this.#overheadBytes <= OVERHEAD_BYTES_MAX;
  }
}

function isTrailer(line: string): boolean {
  const [, name] = FIELD_LINE.exec(line) ?? [];
  return name !== undefined && !NO_TRAILERS.test(name);
}
