/**
 * `node:http2` as a server, with a path for each thing a server may do to a client. Runs in the
 * test's own process.
 */

import { once } from 'node:events';
import type { Http2Session, ServerHttp2Stream, Settings } from 'node:http2';
import { constants, createSecureServer, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createCertificate } from '../../../packages/simulator/src/server/certificate.ts';
import type { Lifetime } from '../lifetime.ts';
import type { Http2Server } from './http2-server.ts';
import { serverAt } from './http2-server.ts';
import { ECHO_PATH, LARGE_BODY, LARGE_PATH, SMALL_BODY, SMALL_PATH } from './site.ts';

/** 200, a body, and the trailer `x-trailer: the end`. */
export const TRAILERS_PATH = '/trailers';
/** 103 with `link: </style>`, then 200 and a body. */
export const INFORMATIONAL_PATH = '/informational';
/** 204, whose HEADERS frame ends the stream. */
export const NO_CONTENT_PATH = '/no-content';
/**
 * 200 with `x-field-0` … of 100 bytes each: more than one frame holds, so a CONTINUATION follows.
 */
export const MANY_FIELDS_PATH = '/many-fields';
export const MANY_FIELDS = 300;
/** RST_STREAM: INTERNAL_ERROR in the middle of a body. */
export const RESET_PATH = '/reset';
/** RST_STREAM: REFUSED_STREAM before any answer. */
export const REFUSED_PATH = '/refused';
/** 200 and a body, with a GOAWAY before it. */
export const GOAWAY_PATH = '/goaway';
/**
 * Takes `Settings` of node:http2 as JSON, demands them of the client, and answers 200 when it has
 * acknowledged them.
 */
export const SETTINGS_PATH = '/settings';
/** Sends a PING, and answers 200 when it was acknowledged. */
export const PING_PATH = '/ping';
/** Answers nothing, ever. */
export const SILENCE_PATH = '/silence';
/** `Counts` of the server that is asked, as JSON. */
export const COUNTS_PATH = '/counts';

export interface Counts {
  readonly requests: number;
  /** The most streams that were open at once, of all connections. */
  readonly streamsAtOnce: number;
}

type Route = (stream: ServerHttp2Stream) => void | Promise<void>;

const ROUTES: Readonly<Record<string, Route>> = {
  [SMALL_PATH]: (stream) => respond(stream, SMALL_BODY),
  [LARGE_PATH]: (stream) => respond(stream, LARGE_BODY),
  [ECHO_PATH]: (stream) => {
    stream.respond({ ':status': 200 });
    stream.pipe(stream);
  },
  [TRAILERS_PATH]: (stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'x-trailer': 'the end' }));
    stream.end(SMALL_BODY);
  },
  [INFORMATIONAL_PATH]: (stream) => {
    stream.additionalHeaders({ ':status': 103, link: '</style>' });
    respond(stream, SMALL_BODY);
  },
  [NO_CONTENT_PATH]: (stream) => stream.respond({ ':status': 204 }, { endStream: true }),
  [MANY_FIELDS_PATH]: (stream) => {
    const names = Array.from({ length: MANY_FIELDS }, (_, index) => `x-field-${index}`);
    const fields = Object.fromEntries(names.map((name) => [name, name.padEnd(100, '.')]));
    stream.respond({ ':status': 200, ...fields });
    stream.end(SMALL_BODY);
  },
  [RESET_PATH]: (stream) => {
    stream.respond({ ':status': 200 });
    // Not close(): that ends the body first, and then there is nothing left to reset.
    stream.write(SMALL_BODY, () => stream.destroy(new Error('reset')));
  },
  [REFUSED_PATH]: (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM),
  [GOAWAY_PATH]: (stream) => {
    stream.session?.goaway(constants.NGHTTP2_NO_ERROR);
    respond(stream, SMALL_BODY);
  },
  [SETTINGS_PATH]: async (stream) => {
    const settings = JSON.parse(await text(stream)) as Settings;
    stream.session?.settings(settings, () => respond(stream, SMALL_BODY));
  },
  [PING_PATH]: (stream) => {
    stream.session?.ping(() => respond(stream, SMALL_BODY));
  },
  [SILENCE_PATH]: () => undefined,
};

export async function startNodeServer(t: Lifetime): Promise<Http2Server> {
  const { certificatePem, privateKeyPem } = await createCertificate('127.0.0.1');
  const servers = [
    createSecureServer({ cert: certificatePem, key: privateKeyPem }),
    createServer(),
  ] as const;
  for (const server of servers) {
    const sessions = new Set<Http2Session>();
    const counts = { requests: 0, streams: 0, streamsAtOnce: 0 };
    server.on('session', (session) => {
      sessions.add(session);
      session.on('error', () => undefined);
      session.once('close', () => sessions.delete(session));
    });
    server.on('stream', (stream, headers) => {
      counts.requests += 1;
      counts.streams += 1;
      counts.streamsAtOnce = Math.max(counts.streams, counts.streamsAtOnce);
      stream.once('close', () => {
        counts.streams -= 1;
      });
      stream.on('error', () => undefined);
      const [path = ''] = (headers[':path'] ?? '').split('?');
      const route = ROUTES[path];
      if (path === COUNTS_PATH) respond(stream, JSON.stringify(counts));
      else if (route === undefined) stream.respond({ ':status': 404 }, { endStream: true });
      else void route(stream);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      for (const session of sessions) session.destroy();
      server.close();
    });
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  return serverAt(certificatePem, ports);
}

function respond(stream: ServerHttp2Stream, body: string | Buffer): void {
  stream.respond({ ':status': 200, 'content-length': Buffer.byteLength(body) });
  stream.end(body);
}
