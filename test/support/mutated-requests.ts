/**
 * Requests with mistakes, as smugglers make them, and who reads them: a front of ours, and Node's
 * own server (llhttp) beside it.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { HttpListener, RequestHandler } from '../../packages/http1/src/front.ts';
import { normalAddress } from '../../packages/std/src/ip-address.ts';
import type { Lifetime } from './lifetime.ts';

const SEEDS = [
  'POST /a?b=c HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /next HTTP/1.1\r\nHost: b\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\nGET /next HTTP/1.1\r\nHost: b\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\nGET /next HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n',
  '\r\nGET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nConnection: keep-alive\r\n\r\nDELETE /b HTTP/1.1\r\nHost: a\r\n\r\n',
];
/** Inserted texts, taken from those of smugglers. */
const SNIPPETS = [
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  '\0',
  '\x0b',
  '\xa0',
  ':',
  ';',
  ',',
  '0',
  '1',
  'f',
  '+',
  '-',
  'Content-Length: 1\r\n',
  'Content-Length: 3\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding:\x0bchunked\r\n',
  ' folded\r\n',
  'Host: c\r\n',
  'Connection: close\r\n',
  'GET /smuggled HTTP/1.1\r\nHost: s\r\n\r\n',
];

/** RFC 9110, 5.6.3 lets a tab follow a value; Node refuses it there. */
export const REFUSED_BY_NODE = /Content-Length: *\d+ *\t/;

const OK = 'ok';

/** Makes one request after the other, the same ones for the same seed. */
export function mutatedRequests(seed: number): () => string {
  let state = seed;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  return () => {
    let text = SEEDS[random(SEEDS.length)] ?? '';
    for (let changes = 1 + random(3); changes > 0; changes -= 1) {
      const at = random(text.length);
      const cut = [0, 0, 1, 1, 2, 10][random(6)] ?? 0;
      const snippet = random(3) === 0 ? '' : (SNIPPETS[random(SNIPPETS.length)] ?? '');
      text = text.slice(0, at) + snippet + text.slice(at + cut);
    }
    return text;
  };
}

/** The requests of each caller's address, as `METHOD target body`. */
class Seen {
  readonly #byAddress = new Map<string, string[]>();

  of(address: string): string[] {
    const requests = this.#byAddress.get(address) ?? [];
    this.#byAddress.set(address, requests);
    return requests;
  }

  /** The requests of this address, which are forgotten. */
  take(address: string): readonly string[] {
    const requests = this.of(address);
    this.#byAddress.delete(address);
    return requests;
  }
}

export interface Reader {
  /** The requests that it reads in this input. Callers at a time have an address each. */
  requestsIn(input: string, localAddress?: string): Promise<readonly string[]>;
}

/** Reads with a front of ours. */
export async function startFrontReader(
  t: Lifetime,
  create: (handler: RequestHandler) => HttpListener,
): Promise<Reader> {
  const seen = new Seen();
  const listener = create({
    begin({ method, path, query, remoteAddress }, reply) {
      let body = '';
      return {
        data(piece, isLast) {
          body += piece.toString('latin1');
          if (!isLast) return;
          const target = `${path}${query === '' ? '' : `?${query}`}`;
          seen.of(remoteAddress).push(`${method} ${target} ${body}`);
          reply.send({
            status: 200,
            writeFields: () => undefined,
            body: OK,
            isHead: method === 'HEAD',
            closes: false,
          });
        },
        abort: () => undefined,
      };
    },
    refuse: ({ status, detail }, reply) =>
      reply.send({
        status,
        writeFields: () => undefined,
        body: detail,
        isHead: false,
        closes: true,
      }),
  });
  await listener.listen();
  t.teardown(() => listener.close(0));
  return readerAt(listener.port, seen);
}

/** Reads with Node's own server. */
export async function startNodesReader(t: Lifetime): Promise<Reader> {
  const seen = new Seen();
  const server = createServer({ requestTimeout: 5_000 }, (request, response) => {
    const requests = seen.of(normalAddress(request.socket.remoteAddress ?? ''));
    // Its handlers run side by side: each has its place.
    const place = requests.push('not whole') - 1;
    void text(request.setEncoding('latin1')).then(
      (body) => {
        requests[place] = `${request.method} ${request.url} ${body}`;
        response.end(OK);
      },
      () => undefined,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return readerAt((server.address() as AddressInfo).port, seen);
}

const readerAt = (port: number, seen: Seen): Reader => ({
  async requestsIn(input, localAddress = '127.0.0.1') {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
    socket.on('error', () => undefined);
    socket.end(input, 'latin1');
    socket.resume();
    await once(socket, 'close');
    return seen.take(localAddress);
  },
});
