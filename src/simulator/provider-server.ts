/**
 * The wire under a simulated provider: TLS and HTTP/2 on `node:http2`, with the faults that belong to a
 * connection (latency, GOAWAY, silence). Our own framing takes its place behind the same `ProviderServer`.
 *
 * GOAWAY: the stream that reaches the number is the last one served. Streams that were already on their
 * way get REFUSED_STREAM, so that a client may send them again without any device being reached twice.
 */

import type {
  Http2Session,
  IncomingHttpHeaders,
  OutgoingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2';
import { constants, createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from './certificate.ts';
import { ConnectionMemory } from './connection-memory.ts';
import type { Handler, ProviderAnswer } from './exchange.ts';
import { BODY_BYTES_MAX } from './exchange.ts';
import type { Field } from './fields.ts';
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

interface Connection {
  readonly memory: ConnectionMemory;
  streamsOpened: number;
  streamsOpen: number;
  /** The last stream that is served; undefined until a GOAWAY is sent. */
  lastStreamId?: number;
}

export async function startProviderServer(options: ProviderServerOptions): Promise<ProviderServer> {
  const { certificate, live } = options;
  const streamsMax = () => live.current.maxConcurrentStreams ?? options.maxConcurrentStreams;
  const connections = new Map<Http2Session, Connection>();
  const sockets = new Set<Socket>();
  let streamsMaxTold = streamsMax();
  const server = createSecureServer({
    cert: certificate.certificatePem,
    key: certificate.privateKeyPem,
    minVersion: 'TLSv1.2',
    settings: { maxConcurrentStreams: streamsMaxTold },
  });

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    connections.set(session, { memory: new ConnectionMemory(), streamsOpened: 0, streamsOpen: 0 });
    session.once('close', () => connections.delete(session));
    options.onConnection();
  });
  // A client that breaks the protocol or its connection harms only itself: node has closed it by now.
  server.on('sessionError', () => undefined);
  server.on(
    'stream',
    (
      stream: ServerHttp2Stream,
      headers: IncomingHttpHeaders,
      _flags: number,
      rawHeaders: readonly string[],
    ) => {
      const connection = stream.session === undefined ? undefined : connections.get(stream.session);
      if (connection === undefined) return;
      if (admitStream(stream, connection, options)) {
        serve(stream, headers, rawHeaders, connection, options);
      }
    },
  );

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    applyBehaviour: () => {
      // A peer that is slow to acknowledge may have ten SETTINGS waiting, not more: no needless ones.
      if (streamsMax() === streamsMaxTold) return;
      streamsMaxTold = streamsMax();
      const settings = { maxConcurrentStreams: streamsMaxTold };
      server.updateSettings(settings);
      for (const session of connections.keys()) {
        if (!session.destroyed) session.settings(settings);
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const session of connections.keys()) session.destroy();
        // Those that never finished their handshake are no session, and would hold the server open.
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Counts a stream in and sends the GOAWAY when its number has come; false for one that came after. */
function admitStream(
  stream: ServerHttp2Stream,
  connection: Connection,
  { live, goAwayText }: ProviderServerOptions,
): boolean {
  // A client that resets its stream does what clients may do; the stream's error says nothing more.
  stream.on('error', () => undefined);
  const { session, id } = stream;
  if (session === undefined || id === undefined) return false;
  if (connection.lastStreamId !== undefined) {
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return false;
  }
  connection.streamsOpened += 1;
  connection.streamsOpen += 1;
  const { goAwayEvery } = live.current;
  if (goAwayEvery > 0 && connection.streamsOpened >= goAwayEvery) {
    connection.lastStreamId = id;
    session.goaway(constants.NGHTTP2_NO_ERROR, id, Buffer.from(goAwayText));
  }
  stream.once('close', () => {
    connection.streamsOpen -= 1;
    if (connection.lastStreamId !== undefined && connection.streamsOpen === 0) session.close();
  });
  return true;
}

/** Gathers the body, asks the provider, and answers when the latency is over. */
function serve(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
  connection: Connection,
  { handle, live }: ProviderServerOptions,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk.subarray(0, BODY_BYTES_MAX + 1 - bytes));
    bytes += chunk.length;
  });
  stream.once('end', () => {
    const answer = handle({
      method: headers[':method'] ?? '',
      path: headers[':path'] ?? '',
      authority: headers[':authority'] ?? headers.host ?? '',
      fields: fieldsOf(rawHeaders),
      body: Buffer.concat(chunks),
      connection: connection.memory,
    });
    if (answer === 'silence') return;
    const { latencyMs } = live.current;
    if (latencyMs === 0) respond(stream, answer);
    else setTimeout(respond, latencyMs, stream, answer).unref();
  });
}

/** Names and values by turns, as node tells them, without the pseudo-fields. */
function fieldsOf(rawHeaders: readonly string[]): readonly Field[] {
  const fields: Field[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!name.startsWith(':')) fields.push({ name, value: rawHeaders[index + 1] ?? '' });
  }
  return fields;
}

function respond(stream: ServerHttp2Stream, answer: ProviderAnswer): void {
  if (stream.destroyed || stream.closed) return;
  const headers: OutgoingHttpHeaders = { ':status': answer.status };
  for (const { name, value } of answer.fields) headers[name] = value;
  if (answer.body === '') {
    stream.respond(headers, { endStream: true });
    return;
  }
  stream.respond(headers);
  // Ended only when the body is out, so that the end is an empty DATA frame of its own, as FCM's is (facts, 2.6).
  stream.write(answer.body, () => stream.end());
}
