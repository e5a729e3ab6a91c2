/** Finds the connection of a request: uWebSockets.js names it by the caller's port and address. */

import type { UwsResponse } from './uws.ts';

interface Ported {
  readonly address: string;
  readonly port: number;
}

export class ConnectionsByPort<Connection extends Ported> {
  /** Callers at several addresses may have the same port. */
  readonly #byPort = new Map<number, Connection[]>();
  readonly #addressOf: (res: UwsResponse) => string;

  constructor(addressOf: (res: UwsResponse) => string) {
    this.#addressOf = addressOf;
  }

  add(connection: Connection): void {
    const others = this.#byPort.get(connection.port);
    if (others === undefined) this.#byPort.set(connection.port, [connection]);
    else others.push(connection);
  }

  delete(connection: Connection): void {
    const found = this.#byPort.get(connection.port) ?? [];
    const others = found.filter((other) => other !== connection);
    if (others.length === 0) this.#byPort.delete(connection.port);
    else this.#byPort.set(connection.port, others);
  }

  has(port: number, address: string): boolean {
    const found = this.#byPort.get(port) ?? [];
    return found.some((connection) => connection.address === address);
  }

  /** Null: it is not open. */
  find(res: UwsResponse): Connection | null {
    const found = this.#byPort.get(res.getRemotePort?.() ?? 0) ?? [];
    // To read an address costs more than all else here.
    if (found.length === 1) return found[0] ?? null;
    const address = found.length === 0 ? '' : this.#addressOf(res);
    return found.find((connection) => connection.address === address) ?? null;
  }
}
