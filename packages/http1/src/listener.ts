/**
 * Listens on an address: accepts connections while there is room, in clear text or TLS, and limits
 * how long each may stay.
 */

import { constants } from 'node:crypto';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { createServer as createTlsServer } from 'node:tls';
import { normalAddress } from '../../std/src/ip-address.ts';
import type { ConnectionSeat, Reception } from './connection.ts';
import { Connection } from './connection.ts';
import type { ListenerLog } from './crowd.ts';
import { Crowd } from './crowd.ts';
import type { HttpListener, RequestHandler } from './front.ts';
import { HeadParser } from './parse-head.ts';

/** PEM. */
interface Pem {
  /** The chain. */
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** The certificate that callers see, which may be replaced while the listener listens. */
interface ListenerCertificate {
  readonly pem: Pem;
  /** Calls `listener` with each later certificate. */
  onChanged(listener: (pem: Pem) => void): void;
}

export interface ListenerOptions {
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  readonly handler: RequestHandler;
  /** The headers that the handler reads, in lower case. Only the form of the others is checked. */
  readonly readHeaders: readonly string[];
  /** Null: clear text. */
  readonly certificate: ListenerCertificate | null;
  readonly connectionsMax: number;
  /** Bytes of unsent answers, of all connections. */
  readonly unsentBytesMax: number;
  /** Has the meaning of its name in `Reception`; so have the next two. */
  readonly headTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly log: ListenerLog;
}

/**
 * With TLS 1.2 a caller could request one handshake after the other, which costs us more than the
 * caller.
 */
const NO_RENEGOTIATION = constants.SSL_OP_NO_RENEGOTIATION;
/** The interval at which timeouts are checked: no caller notices half a second. */
const TICK_MS = 500;
/**
 * When the listener closes, the interval at which it checks whether the last connections have ended
 * and the last answers are sent.
 */
const FLUSH_LOOK_MS = 20;
/**
 * For all connections together, in one turn of the event loop: some milliseconds of work. The
 * system hands over one new connection in each turn, so long turns would keep new callers out.
 * @limit requests of all connections that begin in one turn of the event loop → they wait for the
 * next one
 */
const REQUESTS_PER_TURN = 128;
/** Connections that the system keeps for us while the process is busy. */
const BACKLOG = 1_024;

export class Listener implements Reception, HttpListener {
  readonly handler: RequestHandler;
  readonly headParser: HeadParser;
  readonly headTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly crowd: Crowd<Socket, Connection>;
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #seats = new Set<ConnectionSeat>();
  /** Connections in their TLS handshake, by the caller's address and port. */
  readonly #handshakes = new Map<string, ConnectionSeat>();
  readonly #connections = new Set<Connection>();
  readonly #ticker: NodeJS.Timeout;
  #isClosing = false;
  #turnLeft = REQUESTS_PER_TURN;
  #isTurnCounted = false;
  /** Connections whose requests wait for a later turn. */
  #queue: Connection[] = [];

  constructor(options: ListenerOptions) {
    this.handler = options.handler;
    this.headParser = new HeadParser(options.readHeaders);
    this.headTimeoutMs = options.headTimeoutMs;
    this.idleTimeoutMs = options.idleTimeoutMs;
    this.answerTimeoutMs = options.answerTimeoutMs;
    this.#options = options;
    this.crowd = new Crowd(options, {
      turnAway: (seat) => {
        seat.guest.destroy();
        // The 'close' event comes a turn later.
        this.#leave(seat);
      },
      cutOff: ({ seat }) => seat.guest.destroy(),
    });
    const { certificate } = options;
    this.#server = certificate === null ? this.#createPlain() : this.#createTls(certificate);
    this.#server.on('connection', (socket: Socket) => this.#admit(socket));
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#ticker.unref();
  }

  listen(): Promise<void> {
    const { host, port, log } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', (error) => {
        clearInterval(this.#ticker);
        reject(error);
      });
      this.#server.listen({ host, port, backlog: BACKLOG }, () => {
        this.#server.removeAllListeners('error');
        // The system could not hand over a connection. The next one may succeed.
        this.#server.on('error', (error) =>
          log.warn({ err: error }, 'a connection was not accepted'),
        );
        resolve();
      });
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  stopAccepting(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#server.close();
  }

  async releaseIdle(graceMs: number): Promise<void> {
    const endMs = performance.now() + graceMs;
    while (this.#seats.size > 0 && performance.now() < endMs) await sleep(FLUSH_LOOK_MS);
    for (const connection of this.#connections) connection.release();
  }

  async close(limitMs: number): Promise<void> {
    this.stopAccepting();
    const endMs = performance.now() + limitMs;
    while (this.#isWriting && performance.now() < endMs) await sleep(FLUSH_LOOK_MS);
    clearInterval(this.#ticker);
    for (const { guest } of this.#seats) guest.destroy();
  }

  mayBegin(connection: Connection): boolean {
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true;
      setImmediate(() => this.#nextTurn());
    }
    this.#turnLeft -= 1;
    if (this.#turnLeft >= 0) return true;
    this.#queue.push(connection);
    return false;
  }

  left(connection: Connection): void {
    this.#connections.delete(connection);
    this.crowd.owesNothing(connection);
  }

  #nextTurn(): void {
    const queue = this.#queue;
    this.#queue = [];
    this.#turnLeft = REQUESTS_PER_TURN;
    this.#isTurnCounted = false;
    for (const connection of queue) connection.advance();
  }

  get #isWriting(): boolean {
    return [...this.#connections].some(
      ({ unsentBytes, hasStreamed }) => unsentBytes > 0 && !hasStreamed,
    );
  }

  #createPlain(): Server {
    return createServer({ allowHalfOpen: true, noDelay: true });
  }

  /** Node's own TLS server notices a handshake that takes too long or fails. */
  #createTls(certificate: ListenerCertificate): Server {
    const server = createTlsServer({
      ...certificate.pem,
      secureOptions: NO_RENEGOTIATION,
      allowHalfOpen: true,
      noDelay: true,
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: this.headTimeoutMs,
    });
    certificate.onChanged((pem) =>
      server.setSecureContext({ ...pem, secureOptions: NO_RENEGOTIATION }),
    );
    // It closes neither one that takes too long, nor one whose caller has left meanwhile.
    server.on('tlsClientError', (_error, socket: TLSSocket) => socket.destroy());
    server.on('secureConnection', (socket: TLSSocket) => {
      const seat = this.#handshakes.get(callerOf(socket));
      this.#handshakes.delete(callerOf(socket));
      if (seat === undefined) socket.destroy();
      else this.#serve(socket, seat);
    });
    return server;
  }

  #admit(raw: Socket): void {
    const { remoteAddress } = raw;
    if (remoteAddress === undefined) {
      // The connection is closed already.
      raw.destroy();
      return;
    }
    const seat = this.crowd.enter(raw, normalAddress(remoteAddress));
    const caller = callerOf(raw);
    this.#seats.add(seat);
    raw.once('close', () => {
      this.#leave(seat);
      this.#handshakes.delete(caller);
    });
    if (this.#options.certificate === null) this.#serve(raw, seat);
    else this.#handshakes.set(caller, seat);
    this.crowd.makeRoom(seat);
  }

  #serve(socket: Socket, seat: ConnectionSeat): void {
    this.#connections.add(new Connection(socket, seat, this));
  }

  #leave(seat: ConnectionSeat): void {
    this.#seats.delete(seat);
    this.crowd.leave(seat);
  }

  #tick(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.tick(nowMs);
  }
}

/** Two open connections never have the same address and port. */
const callerOf = ({ remoteAddress, remotePort }: Socket): string =>
  `${remoteAddress} ${remotePort}`;
