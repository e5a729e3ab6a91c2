/** Listens on an address: takes connections in while there is room, in clear text or TLS, and sees to it that none stays for ever. */

import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { SecureContext } from 'node:tls';
import { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { networkOf, normalAddress } from '../../std/ip-address.ts';
import type { Reception } from './connection.ts';
import { Connection } from './connection.ts';
import { ConnectionTable } from './connection-table.ts';
import type { RequestHandler } from './front.ts';

export interface ListenerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly handler: RequestHandler;
  /** For each new connection; null: clear text. */
  readonly secureContext: (() => SecureContext) | null;
  readonly connectionsMax: number;
  /** As `Reception.headTimeoutMs`, and the next one. */
  readonly headTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly log: Logger;
}

/** Time-outs are looked at so often: no caller notices half a second. */
const TICK_MS = 500;
/** Connections that the system keeps for us while we are busy. */
const BACKLOG = 1_024;
/** That there is no room is said once, and how often it was so at most so often. */
const FULL_LOG_INTERVAL_MS = 60_000;

export class Listener implements Reception {
  readonly handler: RequestHandler;
  readonly headTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #table: ConnectionTable<Connection>;
  readonly #connections = new Set<Connection>();
  readonly #ticker: NodeJS.Timeout;
  #isClosing = false;
  #turnedAway = 0;
  #turnedAwaySinceLog = 0;
  #loggedMs = Number.NEGATIVE_INFINITY;

  constructor(options: ListenerOptions) {
    this.handler = options.handler;
    this.headTimeoutMs = options.headTimeoutMs;
    this.idleTimeoutMs = options.idleTimeoutMs;
    this.#options = options;
    this.#table = new ConnectionTable(options.connectionsMax);
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      this.#take(socket),
    );
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#ticker.unref();
  }

  /** Rejects with the system's error when the address cannot be had. */
  listen(): Promise<void> {
    const { host, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) => {
        clearInterval(this.#ticker);
        reject(error);
      });
      this.#server.listen({ host, port, backlog: BACKLOG }, resolve);
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Connections that are open. */
  get size(): number {
    return this.#connections.size;
  }

  /** Connections that had to go because there was no room. */
  get turnedAway(): number {
    return this.#turnedAway;
  }

  /** Takes no more connections; those that are open end with their next answer. */
  stopAccepting(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#server.close();
    for (const connection of this.#connections) connection.release();
  }

  /** Closes every connection, whatever it waits for. */
  destroy(): void {
    this.stopAccepting();
    clearInterval(this.#ticker);
    for (const connection of this.#connections) connection.destroy();
  }

  works({ seat }: Connection): void {
    if (seat !== null) this.#table.works(seat);
  }

  waits({ seat }: Connection): void {
    if (seat !== null) this.#table.waits(seat);
  }

  left(connection: Connection): void {
    this.#connections.delete(connection);
    if (connection.seat !== null) this.#table.leave(connection.seat);
    connection.seat = null;
  }

  #take(raw: Socket): void {
    const { remoteAddress } = raw;
    if (remoteAddress === undefined) {
      // It is gone already.
      raw.destroy();
      return;
    }
    const address = normalAddress(remoteAddress);
    const connection = new Connection(this.#secured(raw), address, this, performance.now());
    this.#connections.add(connection);
    connection.seat = this.#table.enter(connection, networkOf(address));
    if (this.#table.isOverfull) this.#makeRoom(connection);
  }

  #secured(raw: Socket): Socket {
    const { secureContext } = this.#options;
    if (secureContext === null) return raw;
    return new TLSSocket(raw, {
      isServer: true,
      secureContext: secureContext(),
      ALPNProtocols: ['http/1.1'],
    });
  }

  #makeRoom(newcomer: Connection): void {
    const leaver = this.#table.whoGoes() ?? newcomer;
    leaver.destroy();
    // Before its 'close' event, which comes a turn later: the next newcomer needs the place.
    this.left(leaver);
    this.#turnedAway += 1;
    this.#turnedAwaySinceLog += 1;
    const nowMs = performance.now();
    if (nowMs - this.#loggedMs < FULL_LOG_INTERVAL_MS) return;
    const { connectionsMax, log } = this.#options;
    const closed = this.#turnedAwaySinceLog;
    this.#loggedMs = nowMs;
    this.#turnedAwaySinceLog = 0;
    log.warn(
      { connectionsMax, closed, address: leaver.remoteAddress },
      'no room for more connections: the longest silent ones of the address with most are closed; raise the limit of open files (ulimit -n), or look who connects',
    );
  }

  #tick(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.tick(nowMs);
  }
}
