/**
 * The open streams, found by identifier. Identifiers rise by two and most streams end soon. So a
 * stream's place is its number modulo the table's length, which is nearly always free. If an older
 * stream still has that place, the new one goes to a map.
 */

import type { Stream } from './stream.ts';

/** Places per stream that may be open, so that a new stream rarely finds its place taken. */
const PLACES_PER_STREAM = 4;
/** The limit for any number of allowed streams: 128 KiB of places. */
const PLACES_MAX = 16_384;

export class StreamTable<S extends Stream> {
  readonly #places: (S | undefined)[];
  readonly #displaced = new Map<number, S>();
  readonly #unused: S[] = [];
  readonly #streamsMax: number;
  readonly #create: () => S;
  /**
   * For each place, the last stream that the peer ended by END_STREAM: further frames on it are
   * errors for certain.
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

  /** Whether a stream from `all` is still open: the end of one may have closed others. */
  isOpen(stream: S): boolean {
    return this.find(stream.id) === stream;
  }

  /** Closes a stream. The next `open` may reuse its object. */
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
   * Whether the peer has certainly ended this stream itself. The table forgets this after a while.
   * Then, as after our own reset, frames on the stream are to be ignored (RFC 9113, 5.1).
   */
  hasEnded(id: number): boolean {
    return this.#ended[this.#placeOf(id)] === id;
  }

  /** All open streams, in no order. It is a copy, so that streams may be closed during the loop. */
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
