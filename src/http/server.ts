/**
 * HTTP on uWebSockets.js: the only file that knows it. Its objects die with their callbacks, so head and chunks are copied
 * inside them; an aborted response must not be touched; answers go out inside `cork` (docs/architecture.md, "Threads").
 */

import type {
  HttpRequest as NativeRequest,
  HttpResponse as NativeResponse,
  TemplatedApp,
  us_listen_socket,
} from 'uWebSockets.js';
import uWS from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { createAddressResolver } from './client-address.ts';
import { createCors } from './cors.ts';
import type { ExchangeParts } from './exchange.ts';
import { Exchange } from './exchange.ts';
import type { HttpResponse, Route } from './handler.ts';
import type { RequestHead } from './request-head.ts';
import { CopiedHeaders } from './request-head.ts';
import type { Found } from './router.ts';
import { Router } from './router.ts';

export interface ServerOptions
  extends Pick<ExchangeParts, 'authenticator' | 'failures' | 'metrics' | 'log'> {
  readonly routes: readonly Route[];
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly tls: { readonly keyFile: string; readonly certFile: string } | null;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly limits?: ServerLimits;
}

export interface ServerLimits {
  /** Requests being read or handled; beyond it the answer is 503, except on open routes. */
  readonly requestsMax: number;
  /** Bytes of bodies not yet handled, over all requests. */
  readonly bodyBytesMax: number;
  /** From the head of a request to the end of its body. */
  readonly bodyTimeoutMs: number;
  /** How long closing waits for answers under way. */
  readonly drainTimeoutMs: number;
}

export interface Server {
  readonly port: number;
  /** Takes no more connections; those that are open are closed with their next answer. */
  stopAccepting(): void;
  /** Stops accepting, waits for the answers under way, and closes every connection. */
  close(): Promise<void>;
}

/** An idle request costs 2–4 KiB: at most 80 MiB. Registrations have a limit of their own below this. */
const SERVER_LIMITS: ServerLimits = {
  requestsMax: 20_000,
  bodyBytesMax: 268_435_456,
  bodyTimeoutMs: 30_000,
  drainTimeoutMs: 5_000,
};
/** Slow bodies are looked for this often: a timer for each request would cost every request one. */
const SWEEP_INTERVAL_MS = 250;

/** Status lines, made once. */
const STATUS_LINES: ReadonlyMap<number, string> = new Map(
  Object.entries(STATUS_CODES).map(([code, reason]) => [Number(code), `${code} ${reason}`]),
);

/**
 * Why no server can run here, as a sentence, or null. The package has binaries for some versions of Node and, for the
 * others, a substitute in JavaScript that lacks what this file calls (SSLApp is how it shows): it would listen and fail
 * every request.
 */
export const serverFault = (): string | null =>
  'SSLApp' in uWS
    ? null
    : `The HTTP server has no binary for Node ${process.versions.node} on ${process.platform} ${process.arch}: run the service with Node 20.`;

/** Starts listening. Rejects with a sentence when the address cannot be had, or Node is another one. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { tls } = options;
  const fault = serverFault();
  if (fault !== null) throw new Error(fault);
  const app: ClosableApp =
    tls === null
      ? uWS.App()
      : uWS.SSLApp({ key_file_name: tls.keyFile, cert_file_name: tls.certFile });
  const server = new RunningServer(app, options);
  await server.listen(options.host, options.port);
  return server;
}

/** `close` is there and is not in the package's types. */
interface ClosableApp extends TemplatedApp {
  close?(): unknown;
}

/** A request whose answer is still to come. */
interface Conversation {
  readonly native: NativeResponse;
  readonly exchange: Exchange;
  readonly found: Found<Route>;
  readonly deadlineMs: number;
  readonly chunks: Buffer[];
  length: number;
  state: 'reading' | 'handling' | 'over';
  /** The caller went away: `native` must not be touched any more. */
  aborted: boolean;
}

class RunningServer implements Server {
  port = 0;
  readonly #app: ClosableApp;
  readonly #parts: ExchangeParts;
  readonly #router: Router<Route>;
  readonly #limits: ServerLimits;
  /** From the head to the answer; aborted ones to the end of their handler. */
  #requests = 0;
  #bodyBytes = 0;
  /** Those whose bodies did not come whole at once, in the order of their deadlines. */
  readonly #slow = new Set<Conversation>();
  readonly #sweep: NodeJS.Timeout;
  #listenSocket: us_listen_socket | null = null;
  #stopping = false;
  #whenIdle: (() => void) | null = null;

  constructor(app: ClosableApp, options: ServerOptions) {
    this.#app = app;
    this.#parts = {
      ...options,
      cors: createCors(options.corsOrigins),
      addressOf: createAddressResolver(options.trustedProxies),
    };
    this.#router = new Router(options.routes);
    this.#limits = options.limits ?? SERVER_LIMITS;
    app.any('/*', (native, request) => this.#accept(native, request));
    this.#sweep = setInterval(() => this.#endSlowBodies(), SWEEP_INTERVAL_MS);
    this.#sweep.unref();
  }

  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#app.listen(host, port, (socket) => {
        if (socket === false) {
          reject(
            new Error(`cannot listen on ${host}:${port}: it is taken, or not an address here.`),
          );
          return;
        }
        this.#listenSocket = socket;
        this.port = uWS.us_socket_local_port(socket);
        resolve();
      });
    });
  }

  stopAccepting(): void {
    this.#stopping = true;
    if (this.#listenSocket !== null) uWS.us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = null;
  }

  async close(): Promise<void> {
    this.stopAccepting();
    if (this.#requests > 0) await this.#idle();
    clearInterval(this.#sweep);
    this.#app.close?.();
  }

  #idle(): Promise<void> {
    return new Promise((resolve) => {
      const timeout = setTimeout(resolve, this.#limits.drainTimeoutMs);
      this.#whenIdle = () => {
        clearTimeout(timeout);
        resolve();
      };
    });
  }

  #accept(native: NativeResponse, request: NativeRequest): void {
    const head = copyHead(native, request);
    const exchange = new Exchange(this.#parts, head, this.#router.match(head.method, head.path));
    const begun = exchange.begin();
    if (!('route' in begun)) {
      this.#write(native, exchange, begun);
    } else if (begun.route.api !== 'open' && this.#requests >= this.#limits.requestsMax) {
      this.#write(native, exchange, exchange.overloaded('http'));
    } else {
      this.#converse(native, exchange, begun);
    }
  }

  #converse(native: NativeResponse, exchange: Exchange, found: Found<Route>): void {
    const conversation: Conversation = {
      native,
      exchange,
      found,
      deadlineMs: performance.now() + this.#limits.bodyTimeoutMs,
      chunks: [],
      length: 0,
      state: 'reading',
      aborted: false,
    };
    this.#requests += 1;
    native.onAborted(() => this.#abort(conversation));
    native.onData((chunk, isLast) => this.#collect(conversation, chunk, isLast));
  }

  /** What comes after an early answer (413, 408) is read and thrown away, so that the connection stays in step. */
  #collect(conversation: Conversation, chunk: ArrayBuffer, isLast: boolean): void {
    if (conversation.state !== 'reading') return;
    const { exchange } = conversation;
    const { route } = conversation.found;
    conversation.length += chunk.byteLength;
    this.#bodyBytes += chunk.byteLength;
    if (conversation.length > route.bodyBytesMax) {
      this.#settle(conversation, exchange.tooLarge(route));
    } else if (this.#bodyBytes > this.#limits.bodyBytesMax) {
      this.#settle(conversation, exchange.overloaded('bodies'));
    } else {
      // Copied: the chunk has no bytes after this callback.
      if (chunk.byteLength > 0) conversation.chunks.push(Buffer.from(new Uint8Array(chunk)));
      if (isLast) this.#handle(conversation);
      else this.#slow.add(conversation);
    }
  }

  #handle(conversation: Conversation): void {
    const { exchange, found, chunks } = conversation;
    conversation.state = 'handling';
    this.#slow.delete(conversation);
    const [first] = chunks;
    const body = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
    exchange.run(found, body, (response) => this.#settle(conversation, response));
  }

  #settle(conversation: Conversation, response: HttpResponse): void {
    const { native, exchange } = conversation;
    this.#leave(conversation);
    if (!conversation.aborted) native.cork(() => this.#write(native, exchange, response));
  }

  #abort(conversation: Conversation): void {
    conversation.aborted = true;
    if (conversation.state === 'reading') this.#leave(conversation);
  }

  #leave(conversation: Conversation): void {
    conversation.state = 'over';
    this.#slow.delete(conversation);
    this.#bodyBytes -= conversation.length;
    this.#requests -= 1;
    if (this.#requests === 0) this.#whenIdle?.();
  }

  #endSlowBodies(): void {
    const nowMs = performance.now();
    for (const conversation of this.#slow) {
      if (conversation.deadlineMs > nowMs) return;
      const { exchange } = conversation;
      this.#settle(conversation, exchange.refuse(408, 'The body took too long to come.'));
    }
  }

  #write(native: NativeResponse, exchange: Exchange, response: HttpResponse): void {
    const { status, body } = response;
    // Of itself it is 200.
    if (status !== 200) native.writeStatus(STATUS_LINES.get(status) ?? String(status));
    exchange.finish(response, (name, value) => native.writeHeader(name, value));
    // 408: the rest of that body would be waited for.
    const closes = this.#stopping || status === 408;
    const isBodiless = status === 204 || status === 304;
    if (exchange.isHead || isBodiless) {
      // 204 and 304 have no Content-Length (RFC 9110, 8.6). `endWithoutBody` with a length would leave the response
      // unfinished, which ends the process when no abort handler is attached; without one it cannot be told to close.
      if (!isBodiless) native.writeHeader('Content-Length', String(Buffer.byteLength(body)));
      if (closes) native.writeHeader('Connection', 'close');
      native.endWithoutBody();
    } else {
      native.end(body, closes);
    }
  }
}

function copyHead(native: NativeResponse, request: NativeRequest): RequestHead {
  return {
    // This build gives the method in small letters, whatever was sent.
    method: request.getMethod().toUpperCase(),
    path: request.getUrl(),
    query: request.getQuery() ?? '',
    remoteAddress: Buffer.from(native.getRemoteAddressAsText()).toString('latin1'),
    headers: new CopiedHeaders((name) =>
      name === 'x-forwarded-for' ? everyLine(request, name) : request.getHeader(name),
    ),
  };
}

/**
 * A list header that came in several lines, whole. `getHeader` answers the first: of X-Forwarded-For that one is the
 * caller's own where a proxy adds a line instead of an entry (HAProxy does).
 */
function everyLine(request: NativeRequest, name: string): string {
  if (request.getHeader(name) === '') return '';
  const lines: string[] = [];
  request.forEach((key, value) => {
    if (key === name) lines.push(value);
  });
  return lines.join(', ');
}
