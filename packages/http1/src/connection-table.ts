/**
 * The open connections by network. When there is no room, the table chooses the connection to
 * close: in the network that holds most connections, the one that has been silent for longest. So a
 * caller with a thousand silent connections loses its own, and no other caller loses one.
 */

import { networkOf } from '../../std/src/ip-address.ts';

/**
 * Networks searched for a connection that waits. If all connections of these are busy, the new
 * connection is closed.
 */
const NETWORKS_LOOKED_AT_MAX = 64;

interface Network<G> {
  readonly name: string;
  count: number;
  /** A linked list of the connections that wait, the longest silent one first. */
  first: Seat<G> | null;
  last: Seat<G> | null;
}

/** A connection's place in the table. */
export interface Seat<G> {
  readonly guest: G;
  readonly address: string;
  readonly network: Network<G>;
  hasLeft: boolean;
  isWaiting: boolean;
  previous: Seat<G> | null;
  next: Seat<G> | null;
}

export class ConnectionTable<G> {
  readonly #sizeMax: number;
  readonly #networks = new Map<string, Network<G>>();
  /** Networks by the number of connections that they hold. */
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
   * Adds a connection, as one that waits. If the table is overfull then, a connection must be
   * closed.
   */
  enter(guest: G, address: string): Seat<G> {
    const name = networkOf(address);
    const network = this.#networks.get(name) ?? this.#add(name);
    const seat: Seat<G> = {
      guest,
      address,
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

  /** The connection is closed, or about to be. A second call changes nothing. */
  leave(seat: Seat<G>): void {
    if (seat.hasLeft) return;
    this.works(seat);
    seat.hasLeft = true;
    this.#count(seat.network, -1);
    if (seat.network.count === 0) this.#networks.delete(seat.network.name);
  }

  /** A request of the connection is being handled: it must not be closed now. */
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

  /** The connection has its answer. It is now the last of its network to be closed. */
  waits(seat: Seat<G>): void {
    if (seat.isWaiting || seat.hasLeft) return;
    const { network } = seat;
    seat.isWaiting = true;
    seat.previous = network.last;
    if (network.last === null) network.first = seat;
    else network.last.next = seat;
    network.last = seat;
  }

  /** The connection to close. Null: a request is being handled on every candidate. */
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
    // `whoGoes` begins at the end of the array.
    while (this.#byCount.length > 1 && this.#byCount.at(-1)?.size === 0) this.#byCount.pop();
  }
}
