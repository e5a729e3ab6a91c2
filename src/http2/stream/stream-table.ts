/**
 * The streams that are open, found by identifier. Identifiers rise by two and most streams live
 * shortly, so a stream's place is its number modulo the table's length, and it is nearly always
 * free; a stream that meets an older one there goes to a map.
 */

import type { Stream } from './stream.ts';

/** Places per stream that may be open, so that the old ones that are in the way stay few. */
const PLACES_PER_STREAM = 4;
/** However many streams are allowed: 128 KiB of places. */
const PLACES_MAX = 16_384;

export class StreamTable<S extends Stream> {
  readonly #places: (S | undefined)[];
  readonly #displaced = new Map<number, S>();
  readonly #unused: S[] = [];
  readonly #streamsMax: number;
  readonly #create: () => S;
  /**
   * In each place the last stream that its peer has ended by END_STREAM: frames on it are errors
   * for certain.
   */
  readonly #ended: Int32Array;
  #size = 0;

  /** `streamsMax`: as many as are usually open at once; more are found more slowly. */
  constructor(streamsMax: number, create: () => S) {
    const wanted = Math.max(1, streamsMax) * PLACES_PER_STREAM;
    const places = 2 ** Math.ceil(Math.log2(Math.min(wanted, PLACES_MAX)));
    this.#places = new Array<S | undefined>(places).fill(undefined);
    this.#ended = new Int32Array(places);
    this.#streamsMax = streamsMax;
    this.#create = create;
  }

  get size(): number {
    return this.#size;
  }

  open(id: number, sendWindow: number): S {
    const stream = this.#unused.pop() ?? this.#create();
    stream.open(id, sendWindow);
    const place = this.#placeOf(id);
    if (this.#places[place] === undefined) this.#places[place] = stream;
    else this.#displaced.set(id, stream);
    this.#size += 1;
    return stream;
  }

  find(id: number): S | undefined {
    const stream = this.#places[this.#placeOf(id)];
    if (stream !== undefined && stream.id === id) return stream;
    return this.#displaced.size === 0 ? undefined : this.#displaced.get(id);
  }

  /**
   * Whether this is the stream that it was, for those that come from `all`: one's end may have
   * closed others.
   */
  isOpen(stream: S): boolean {
    return this.find(stream.id) === stream;
  }

  /** The stream is closed; its object may be another's with the next `open`. */
  close(stream: S, isEndedByPeer: boolean): void {
    const { id } = stream;
    const place = this.#placeOf(id);
    if (this.#places[place] === stream) this.#places[place] = undefined;
    else this.#displaced.delete(id);
    this.#size -= 1;
    if (isEndedByPeer) this.#ended[place] = id;
    stream.release();
    if (this.#unused.length < this.#streamsMax) this.#unused.push(stream);
  }

  /**
   * Whether the peer has certainly ended this stream itself. After a while nobody knows any more:
   * then, as when we have reset it, frames on it are to be ignored (RFC 9113, 5.1).
   */
  hasEnded(id: number): boolean {
    return this.#ended[this.#placeOf(id)] === id;
  }

  /** All that are open, in no order; it is a copy, so that they may be closed meanwhile. */
  all(): readonly S[] {
    const open = [...this.#displaced.values()];
    if (open.length === this.#size) return open;
    for (const stream of this.#places) if (stream !== undefined) open.push(stream);
    return open;
  }

  #placeOf(id: number): number {
    return (id >>> 1) & (this.#places.length - 1);
  }
}
