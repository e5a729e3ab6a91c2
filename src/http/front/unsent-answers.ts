/**
 * What of answers has not been taken yet, of all connections: it is in our memory. Who reads slowly
 * is owed some, and who never reads is owed all of it; so when it is too much, somebody has to go:
 * of the network that is owed most, the one that has been owed for longest.
 */

interface Network<Guest> {
  bytes: number;
  /** Those who are owed something, from the one that has been so for longest on. */
  readonly owed: Map<Guest, number>;
}

export class UnsentAnswers<Guest> {
  readonly #networks = new Map<string, Network<Guest>>();
  #bytes = 0;

  /** Of all of them. */
  get bytes(): number {
    return this.#bytes;
  }

  /** So many bytes are owed to a guest now. */
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

  /** Null: nobody is owed anything. */
  whoGoes(): Guest | null {
    let most: Network<Guest> | null = null;
    for (const network of this.#networks.values()) {
      if (most === null || network.bytes > most.bytes) most = network;
    }
    const [longest] = most?.owed.keys() ?? [];
    return longest ?? null;
  }
}
