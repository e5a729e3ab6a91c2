/**
 * Listens with uWebSockets.js: the same interface as the listener of `tagcast-http1`, and the same
 * choice of connections to close when there is no room. The letters of rules are those of this
 * package's README.
 */

import { createServer } from 'node:net';
import { setImmediate as nextImmediate, setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from '../../http1/src/crowd.ts';
import type { HttpListener, RequestHandler } from '../../http1/src/front.ts';
import type { ListenerOptions } from '../../http1/src/listener.ts';
import { normalAddress } from '../../std/src/ip-address.ts';
import type { ReadRequest, Reception } from './connection.ts';
import { UwsConnection } from './connection.ts';
import { ConnectionsByPort } from './connections-by-port.ts';
import { HeadReader } from './head-reader.ts';
import { Turn } from './turn.ts';
import type { Uws, UwsApp, UwsRequest, UwsResponse } from './uws.ts';

/** The certificate that callers see, which may be replaced while the listener listens. */
interface CertificateOnDisk {
  /** uWebSockets.js reads them itself. */
  readonly files: { readonly certFile: string; readonly keyFile: string };
  /** Calls `listener` after each change of the files. */
  onChanged(listener: () => void): void;
}

/** uWebSockets.js has ten seconds for a head, which cannot be changed. */
export interface UwsListenerOptions extends Omit<ListenerOptions, 'certificate' | 'headTimeoutMs'> {
  /** Null: clear text. */
  readonly certificate: CertificateOnDisk | null;
}

/** A binary that was tried out. */
export interface UwsBinary {
  readonly uws: Uws;
  readonly version: string;
  /** Whether it knows callers' ports, which show the connection of a request at once. */
  readonly hasPorts: boolean;
}

/** The interval at which timeouts are checked: no caller notices half a second. */
const TICK_MS = 500;
/** uWebSockets.js closes what is silent for 10 s, give or take 4. */
const EXTEND_INTERVAL_MS = 4_000;
/**
 * When the listener closes, the interval at which it checks whether the last connections have ended
 * and the last answers are sent.
 */
const FLUSH_LOOK_MS = 20;

/** The code of the error when uWebSockets.js does not take the certificate or its key. */
export const CERTIFICATE_FAULT = 'ERR_CERTIFICATE';

const addressOf = (res: UwsResponse): string =>
  normalAddress(Buffer.from(res.getRemoteAddressAsText()).toString('latin1'));

export class UwsListener implements HttpListener, Reception {
  readonly handler: RequestHandler;
  readonly turn = new Turn(() => this.#dropUnnamed());
  readonly hasPorts: boolean;
  readonly idleTimeoutMs: number;
  readonly answerTimeoutMs: number;
  readonly crowd: Crowd<UwsConnection, UwsConnection>;
  readonly #options: UwsListenerOptions;
  readonly #uws: Uws;
  readonly #heads: HeadReader;
  readonly #connections = new Set<UwsConnection>();
  readonly #byPort = new ConnectionsByPort<UwsConnection>(addressOf);
  #ticker: NodeJS.Timeout | undefined;
  #extendedMs = performance.now();
  /** Null: it does not listen. */
  #socket: object | null = null;
  #port = 0;
  #isClosing = false;
  /** The connection that an answer is being written to. */
  #writing: UwsConnection | null = null;
  /** Without ports: a request whose connection the next piece of a body shows. */
  #unnamed: ReadRequest | null = null;

  constructor(options: UwsListenerOptions, { uws, hasPorts }: UwsBinary) {
    this.handler = options.handler;
    this.hasPorts = hasPorts;
    this.idleTimeoutMs = options.idleTimeoutMs;
    this.answerTimeoutMs = options.answerTimeoutMs;
    this.#options = options;
    this.#uws = uws;
    this.#heads = new HeadReader(options.readHeaders);
    this.crowd = new Crowd(options, {
      // Its descriptor is free at once: uWebSockets.js accepts all who wait in one go.
      turnAway: ({ guest }) => this.#shutNow(guest),
      cutOff: (connection) => this.shut(connection),
    });
    options.certificate?.onChanged(() => this.#replaceCertificate());
  }

  async listen(): Promise<void> {
    const { host, port } = this.#options;
    this.#listenOn(await freePort(host, port));
    this.#ticker = setInterval(() => this.#tick(), TICK_MS);
    this.#ticker.unref();
  }

  get port(): number {
    return this.#port;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  stopAccepting(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    if (this.#socket !== null) this.#uws.us_listen_socket_close(this.#socket);
    this.#socket = null;
  }

  async releaseIdle(graceMs: number): Promise<void> {
    const endMs = performance.now() + graceMs;
    while (this.#connections.size > 0 && performance.now() < endMs) await sleep(FLUSH_LOOK_MS);
    for (const connection of [...this.#connections]) if (connection.isIdle) this.shut(connection);
  }

  async close(limitMs: number): Promise<void> {
    this.stopAccepting();
    const endMs = performance.now() + limitMs;
    while (this.#isWriting && performance.now() < endMs) await sleep(FLUSH_LOOK_MS);
    clearInterval(this.#ticker);
    // Not while input is read, so that all are closed in the end.
    await nextImmediate();
    for (const connection of [...this.#connections]) this.shut(connection);
  }

  /**
   * Rule (c): a connection that closes while its answer is written is reported by the filter alone,
   * without its name. So it is this one.
   */
  writing(connection: UwsConnection | null, write: () => void): void {
    const before = this.#writing;
    this.#writing = connection;
    try {
      write();
    } finally {
      this.#writing = before;
    }
  }

  /** Rule (m): not while uWebSockets.js may be reading its chunks. */
  shut(connection: UwsConnection): void {
    if (this.turn.isReading) this.turn.after(() => this.#shutNow(connection));
    else this.#shutNow(connection);
  }

  /** Rule (c), too: this one may close while an answer is written to another. */
  #shutNow(connection: UwsConnection): void {
    this.#dropUnnamed();
    if (!connection.isGone) this.writing(null, () => connection.close());
  }

  chunk(connection: UwsConnection, chunk: ArrayBuffer, isLast: boolean): void {
    this.turn.begin();
    const unnamed = this.#unnamed;
    if (unnamed !== null && (connection.isIdle || connection.isEnding)) {
      this.#unnamed = null;
      this.#begin(connection, unnamed);
    }
    connection.data(chunk, isLast);
  }

  gone(connection: UwsConnection): void {
    // It may be the one that closes: its memory is freed after this turn.
    this.#dropUnnamed();
    if (connection.isGone) return;
    this.#connections.delete(connection);
    this.#byPort.delete(connection);
    this.crowd.leave(connection.seat);
    this.crowd.owesNothing(connection);
    connection.closed();
  }

  #listenOn(port: number): void {
    const { host, certificate } = this.#options;
    const app = this.#createApp(certificate);
    app.filter((res, count) => this.#filter(res, count));
    app.any('/*', (res, req) => this.#route(res, req));
    let socket: object | false = false;
    app.listen(host, port, (listening) => {
      socket = listening;
    });
    // It says no reason. Another process was faster.
    if (socket === false) throw Object.assign(new Error('cannot listen'), { code: 'EADDRINUSE' });
    this.#socket = socket;
    this.#port = this.#uws.us_socket_local_port(socket);
  }

  #createApp(certificate: CertificateOnDisk | null): UwsApp {
    if (certificate === null) return this.#uws.App();
    const { keyFile, certFile } = certificate.files;
    try {
      return this.#uws.SSLApp({ key_file_name: keyFile, cert_file_name: certFile });
    } catch (error) {
      // BoringSSL says no reason.
      const cause = { cause: error };
      throw Object.assign(new Error('the certificate cannot be used', cause), {
        code: CERTIFICATE_FAULT,
      });
    }
  }

  /**
   * A certificate cannot be replaced in an app. A second one listens on the same port, then the
   * first one no more; connections stay where they are. A caller who waits in the queue of the
   * first one at that moment is reset.
   */
  #replaceCertificate(): void {
    const old = this.#socket;
    if (old === null) return;
    try {
      this.#listenOn(this.#port);
      this.#uws.us_listen_socket_close(old);
    } catch (error) {
      this.#options.log.warn(
        { err: error },
        'the new certificate cannot be used: the previous one stays in use',
      );
    }
  }

  #filter(res: UwsResponse, count: number): void {
    if (count !== 1) {
      if (this.#writing !== null) this.gone(this.#writing);
      return;
    }
    this.#dropUnnamed();
    const address = addressOf(res);
    const port = res.getRemotePort?.() ?? 0;
    // A caller may bind one port and connect to two addresses of ours. Nothing would show which of
    // the two connections a request belongs to.
    if (this.hasPorts && this.#byPort.has(port, address)) {
      this.writing(null, () => res.close());
      return;
    }
    const connection = new UwsConnection(res, address, port, this);
    this.#connections.add(connection);
    if (this.hasPorts) this.#byPort.add(connection);
    // Nothing is read here: uWebSockets.js accepts connections apart from that.
    if (this.#isClosing) this.#shutNow(connection);
    else this.crowd.makeRoom(connection.seat);
  }

  #route(res: UwsResponse, req: UwsRequest): void {
    this.turn.begin();
    this.#dropUnnamed();
    const request = { res, ...this.#heads.read(req) };
    if (!this.hasPorts) {
      this.#unnamed = request;
      return;
    }
    const connection = this.#byPort.find(res);
    if (connection === null) {
      res.close();
      return;
    }
    this.#begin(connection, request);
    if ('kind' in request.head) connection.awaitBody(request.head);
  }

  #begin(connection: UwsConnection, request: ReadRequest): void {
    // It was sent after the last one of its connection, whose answer may not be out yet.
    if (connection.isEnding) this.turn.after(() => this.shut(connection));
    else connection.begin(request);
  }

  /**
   * Without ports, no piece has shown whose request it is: its body comes in chunks, of which none
   * is here. To close it is all that can be done, and reports the connection.
   */
  #dropUnnamed(): void {
    const unnamed = this.#unnamed;
    this.#unnamed = null;
    if (unnamed !== null) this.writing(null, () => unnamed.res.close());
  }

  get #isWriting(): boolean {
    return [...this.#connections].some(({ isWriting }) => isWriting);
  }

  #tick(): void {
    const nowMs = performance.now();
    const mayExtend = nowMs - this.#extendedMs >= EXTEND_INTERVAL_MS;
    if (mayExtend) this.#extendedMs = nowMs;
    for (const connection of this.#connections) connection.tick(nowMs, mayExtend);
  }
}

/**
 * Listens for a moment, since uWebSockets.js shares a port with others and says no reason when it
 * cannot listen. Rejects with the system's error.
 */
function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen({ host, port }, () => {
      const address = probe.address();
      const free = typeof address === 'object' && address !== null ? address.port : port;
      probe.close(() => resolve(free));
    });
  });
}
