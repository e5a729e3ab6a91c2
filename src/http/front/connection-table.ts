/**
 * Who is connected, by network, and who has to go when there is no room: of the network that holds
 * most connections, the one that has said nothing for longest. So one caller with a thousand silent
 * connections closes his own, and nobody else's.
 */

/**
 * Networks looked at for somebody who waits; with all of these busy, whoever comes is the one to
 * go.
 */
const NETWORKS_LOOKED_AT_MAX = 64;

interface Network<G> {
  readonly name: string;
  count: number;
  /** Those that nobody works for, from the longest silent to the last one, linked. */
  first: Seat<G> | null;
  last: Seat<G> | null;
}

/** A connection's place in the table. */
export interface Seat<G> {
  readonly guest: G;
  readonly network: Network<G>;
  hasLeft: boolean;
  isWaiting: boolean;
  previous: Seat<G> | null;
  next: Seat<G> | null;
}

export class ConnectionTable<G> {
  readonly #sizeMax: number;
  readonly #networks = new Map<string, Network<G>>();
  /** By how many connections they hold. */
  readonly #byCount: Set<Network<G>>[] = [];
  #size = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#size;
  }

  get isOverfull(): boolean {
    return this.#size > this.#sizeMax;
  }

  /**
   * Takes a connection in, as one that waits; when that makes the table overfull, somebody has to
   * go.
   */
  enter(guest: G, networkName: string): Seat<G> {
    const network = this.#networks.get(networkName) ?? this.#add(networkName);
    const seat: Seat<G> = {
      guest,
      network,
      hasLeft: false,
      isWaiting: false,
      previous: null,
      next: null,
    };
    this.#count(network, 1);
    this.waits(seat);
    return seat;
  }

  /** It has been closed, or is about to be. Said again, it changes nothing. */
  leave(seat: Seat<G>): void {
    if (seat.hasLeft) return;
    this.works(seat);
    seat.hasLeft = true;
    this.#count(seat.network, -1);
    if (seat.network.count === 0) this.#networks.delete(seat.network.name);
  }

  /** An answer is being made for it: it does not have to go now. */
  works(seat: Seat<G>): void {
    if (!seat.isWaiting) return;
    const { network, previous, next } = seat;
    if (previous === null) network.first = next;
    else previous.next = next;
    if (next === null) network.last = previous;
    else next.previous = previous;
    seat.isWaiting = false;
    seat.previous = null;
    seat.next = null;
  }

  /** It has its answer: of its network's it is the last to go. */
  waits(seat: Seat<G>): void {
    if (seat.isWaiting || seat.hasLeft) return;
    const { network } = seat;
    seat.isWaiting = true;
    seat.previous = network.last;
    if (network.last === null) network.first = seat;
    else network.last.next = seat;
    network.last = seat;
  }

  /** Null: an answer is being made for everybody who might go. */
  whoGoes(): Seat<G> | null {
    let looks = NETWORKS_LOOKED_AT_MAX;
    for (let count = this.#byCount.length - 1; count > 0; count -= 1) {
      for (const { first } of this.#byCount[count] ?? []) {
        if (first !== null) return first;
        looks -= 1;
        if (looks === 0) return null;
      }
    }
    return null;
  }

  #add(name: string): Network<G> {
    const network = { name, count: 0, first: null, last: null };
    this.#networks.set(name, network);
    return network;
  }

  #count(network: Network<G>, by: 1 | -1): void {
    this.#byCount[network.count]?.delete(network);
    network.count += by;
    this.#size += by;
    // Filled up from below, without holes.
    while (this.#byCount.length <= network.count) this.#byCount.push(new Set());
    if (network.count > 0) this.#byCount[network.count]?.add(network);
    // `whoGoes` begins at the end of it.
    while (this.#byCount.length > 1 && this.#byCount.at(-1)?.size === 0) this.#byCount.pop();
  }
}
