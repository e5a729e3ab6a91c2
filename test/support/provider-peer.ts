/**
 * A provider made of `node:http2` whose every move the test decides: what it answers, how many
 * streams it allows, when it goes.
 */

import type {
  Http2SecureServer,
  Http2Session,
  IncomingHttpHeaders,
  ServerHttp2Stream,
} from 'node:http2';
import { constants, createSecureServer } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { generate } from 'selfsigned';

export interface ReceivedRequest {
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as it came, for what is no text. */
  readonly octets: Buffer;
  /** 1 for the first request that this peer received, on whatever connection. */
  readonly number: number;
}

export type Script = (request: ReceivedRequest) => void;

export interface ProviderPeerOptions {
  readonly script: Script;
  readonly maxConcurrentStreams?: number;
  /** The octets of one request that a client may send before a WINDOW_UPDATE. */
  readonly initialWindowSize?: number;
  /** Called with each connection, 1 for the first. */
  readonly onSession?: (session: Http2Session, number: number) => void;
  /**
   * Called as soon as the header fields are there; true: the script has dealt with the stream and
   * no body is read.
   */
  readonly onStream?: (stream: ServerHttp2Stream) => boolean;
}

export interface ProviderPeer {
  readonly origin: string;
  readonly ca: string;
  readonly sessions: ReadonlySet<Http2Session>;
  readonly received: ReceivedRequest[];
  /** Breaks every connection without a word. */
  readonly cut: () => void;
  /** Says nothing more on any connection, and closes its half of it. */
  readonly hangUp: () => void;
  /** Connections accepted so far. */
  readonly connections: () => number;
  /** Most streams that were open at once on one connection. */
  readonly streamsOpenMax: () => number;
  readonly close: () => Promise<void>;
}

export async function startProviderPeer(options: ProviderPeerOptions): Promise<ProviderPeer> {
  const certificate = await certificateOf();
  const server = createSecureServer({
    key: certificate.private,
    cert: certificate.cert,
    settings: {
      maxConcurrentStreams: options.maxConcurrentStreams ?? 100,
      ...(options.initialWindowSize === undefined
        ? {}
        : { initialWindowSize: options.initialWindowSize }),
    },
  });
  const sessions = new Set<Http2Session>();
  const open = new Map<Http2Session, number>();
  const sockets = new Set<Socket>();
  const received: ReceivedRequest[] = [];
  let connections = 0;
  let streamsOpenMax = 0;

  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('session', (session) => {
    connections += 1;
    sessions.add(session);
    session.on('error', () => undefined);
    session.once('close', () => sessions.delete(session));
    options.onSession?.(session, connections);
  });
  server.on('stream', (stream, headers) => {
    const session = stream.session;
    if (session === undefined) return;
    const count = (open.get(session) ?? 0) + 1;
    open.set(session, count);
    streamsOpenMax = Math.max(streamsOpenMax, count);
    stream.on('error', () => undefined);
    stream.once('close', () => open.set(session, (open.get(session) ?? 0) - 1));
    if (options.onStream?.(stream)) return;
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => {
      const octets = Buffer.concat(chunks);
      const body = octets.toString('utf8');
      const request = { stream, session, headers, body, octets, number: received.length + 1 };
      received.push(request);
      options.script(request);
    });
  });

  await listen(server);
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ca: certificate.cert,
    sessions,
    received,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    hangUp: () => {
      for (const socket of sockets) socket.end();
    },
    connections: () => connections,
    streamsOpenMax: () => streamsOpenMax,
    close: async () => {
      for (const session of sessions) session.destroy();
      // One that was hung up on with something unread would never notice its end.
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Answers with a status and, when given, a body: a text as it is, anything else as JSON. */
export function answer(
  { stream }: ReceivedRequest,
  status: number,
  body?: unknown,
  fields: Readonly<Record<string, string>> = {},
): void {
  if (stream.destroyed) return;
  stream.respond({ ':status': status, ...fields }, { endStream: body === undefined });
  if (body !== undefined) stream.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** RST_STREAM REFUSED_STREAM: not looked at. */
export const refuse = (stream: ServerHttp2Stream): void =>
  stream.close(constants.NGHTTP2_REFUSED_STREAM);

let made: ReturnType<typeof generate> | null = null;

function certificateOf(): ReturnType<typeof generate> {
  made ??= generate([{ name: 'commonName', value: 'provider peer' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return made;
}

const listen = (server: Http2SecureServer): Promise<void> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
