/**
 * The unsent answers of all connections: they are in our memory. Slow callers leave a part of their
 * answers there, callers that never read leave all. When it is too much, a connection is closed: in
 * the network with most unsent bytes, the one that has had some for longest.
 */

interface Network<Guest> {
  bytes: number;
  /** The connections with unsent bytes, the one that has had some for longest first. */
  readonly owed: Map<Guest, number>;
}

export class UnsentAnswers<Guest> {
  readonly #networks = new Map<string, Network<Guest>>();
  #bytes = 0;

  /** Unsent bytes of all connections. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Notes how many unsent bytes a connection has now. */
  note(guest: Guest, networkName: string, bytes: number): void {
    const network = this.#networks.get(networkName) ?? { bytes: 0, owed: new Map() };
    const more = bytes - (network.owed.get(guest) ?? 0);
    this.#bytes += more;
    network.bytes += more;
    if (bytes === 0) network.owed.delete(guest);
    else network.owed.set(guest, bytes);
    if (network.owed.size === 0) this.#networks.delete(networkName);
    else this.#networks.set(networkName, network);
  }

  /** The connection to close. Null: none has unsent bytes. */
  whoGoes(): Guest | null {
    let most: Network<Guest> | null = null;
    for (const network of this.#networks.values()) {
      if (most === null || network.bytes > most.bytes) most = network;
    }
    const [longest] = most?.owed.keys() ?? [];
    return longest ?? null;
  }
}
