/**
 * The wire under a simulated provider: TLS and HTTP/2 on our own framing, with the faults that belong to a
 * connection (latency, GOAWAY, silence).
 *
 * GOAWAY: the stream that reaches the number is the last one served. Streams that were already on their
 * way get REFUSED_STREAM, so that a client may send them again without any device being reached twice.
 */

import type { Duplex } from 'node:stream';
import { ErrorCode } from '../http2/error.ts';
import type { RequestHead } from '../http2/message/request.ts';
import { listen } from '../http2/server/listen.ts';
import { ServerConnection } from '../http2/server/server-connection.ts';
import type { Certificate } from './certificate.ts';
import { ConnectionMemory } from './connection-memory.ts';
import { DistantSocket } from './distant-socket.ts';
import type { Handler, ProviderAnswer } from './exchange.ts';
import { BODY_BYTES_MAX } from './exchange.ts';
import type { LiveBehaviour } from './options.ts';

export interface ProviderServerOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate: Certificate;
  readonly live: LiveBehaviour;
  /** What the real one allows, for when the behaviour does not say. */
  readonly maxConcurrentStreams: number;
  /** The debug data of its GOAWAY frames. */
  readonly goAwayText: string;
  readonly handle: Handler;
  readonly onConnection: () => void;
}

export interface ProviderServer {
  readonly port: number;
  /** Tells connections, open and future ones, how many streams the behaviour allows now. */
  applyBehaviour(): void;
  close(): Promise<void>;
}

export async function startProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const { certificate, live } = options;
  const streamsMax = () => live.current.maxConcurrentStreams ?? options.maxConcurrentStreams;
  const connections = new Set<ProviderConnection>();
  let streamsMaxTold = streamsMax();
  const listener = await listen({
    host: options.host,
    port: options.port,
    certificatePem: certificate.certificatePem,
    privateKeyPem: certificate.privateKeyPem,
    // TCP's handshake and TLS's, a round trip each.
    handshakeDelayMs: () => 2 * live.current.roundTripMs,
    onConnection: (socket) => {
      const { roundTripMs } = live.current;
      const wire = roundTripMs === 0 ? socket : new DistantSocket(socket, roundTripMs);
      const connection = new ProviderConnection(wire, streamsMaxTold, options, () =>
        connections.delete(connection),
      );
      connections.add(connection);
      options.onConnection();
    },
  });
  return {
    port: listener.port,
    applyBehaviour: () => {
      if (streamsMax() === streamsMaxTold) return;
      streamsMaxTold = streamsMax();
      for (const connection of connections) connection.allowStreams(streamsMaxTold);
    },
    close: () => listener.close(),
  };
}

const NO_BODY = Buffer.alloc(0);

class ProviderConnection {
  readonly #options: ProviderServerOptions;
  readonly #http2: ServerConnection;
  readonly #memory = new ConnectionMemory();
  #streamsOpened = 0;

  constructor(
    socket: Duplex,
    streamsMax: number,
    options: ProviderServerOptions,
    onClosed: () => void,
  ) {
    this.#options = options;
    const limits = {
      streamsMax,
      // One more than is read, so that a provider sees that there was more.
      bodyOctetsMax: BODY_BYTES_MAX + 1,
      // As FCM's do (facts, 2.6).
      endsApart: true,
    };
    this.#http2 = new ServerConnection(socket, limits, {
      opened: (streamId) => this.#opened(streamId),
      requested: (streamId, head, body) => this.#requested(streamId, head, body),
      closed: onClosed,
    });
  }

  allowStreams(streamsMax: number): void {
    this.#http2.allowStreams(streamsMax);
  }

  /** Counts streams, and sends the GOAWAY when its number has come. */
  #opened(streamId: number): void {
    const { live, goAwayText } = this.#options;
    this.#streamsOpened += 1;
    const { goAwayEvery } = live.current;
    if (goAwayEvery === 0 || this.#streamsOpened < goAwayEvery) return;
    this.#http2.sendGoAway(streamId, ErrorCode.NO_ERROR, goAwayText);
  }

  /** Asks the provider, and answers when the latency is over. */
  #requested(streamId: number, head: RequestHead, body: Buffer): void {
    const { handle, live } = this.#options;
    const { method, path, authority, fields } = head;
    const answer = handle({ method, path, authority, fields, body, connection: this.#memory });
    if (answer === 'silence') return;
    const { latencyMs } = live.current;
    if (latencyMs === 0) this.#respond(streamId, answer);
    else setTimeout(() => this.#respond(streamId, answer), latencyMs).unref();
  }

  #respond(streamId: number, { status, fields, body }: ProviderAnswer): void {
    const octets = body === '' ? NO_BODY : Buffer.from(body);
    this.#http2.respond(streamId, { status, fields, body: octets });
  }
}
