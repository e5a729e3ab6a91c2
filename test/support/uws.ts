/** A listener on uWebSockets.js with a handler of the test, and raw callers of it. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { pino } from 'pino';
import type { Answer, Receiver, Reply, RequestHandler } from '../../packages/http1/src/front.ts';
import type { RequestHead } from '../../packages/http1/src/request-head.ts';
import type { UwsBinary, UwsListenerOptions } from '../../packages/http1-uws/src/listener.ts';
import { UwsListener } from '../../packages/http1-uws/src/listener.ts';
import type { Lifetime } from './lifetime.ts';

export const answer = (body: string | Buffer, more: Partial<Answer> = {}): Answer => ({
  status: 200,
  writeFields: () => undefined,
  body,
  isHead: false,
  closes: false,
  ...more,
});

export const refuse: RequestHandler['refuse'] = ({ status, detail }, reply) =>
  reply.send(answer(detail, { status, closes: true }));

/** Calls `handle` when the body is complete. */
export const whenWhole = (
  handle: (head: RequestHead, body: Buffer, reply: Reply) => void,
): RequestHandler => ({
  begin(head, reply): Receiver {
    const pieces: Buffer[] = [];
    return {
      data(piece, isLast) {
        pieces.push(piece);
        if (isLast) handle(head, Buffer.concat(pieces), reply);
      },
      abort: () => undefined,
    };
  },
  refuse,
});

export const echo = whenWhole((_head, body, reply) => reply.send(answer(body)));

export async function startUws(
  t: Lifetime,
  binary: UwsBinary,
  handler: RequestHandler,
  more: Partial<UwsListenerOptions> = {},
): Promise<UwsListener> {
  const options: UwsListenerOptions = {
    host: '127.0.0.1',
    port: 0,
    handler,
    readHeaders: [],
    certificate: null,
    connectionsMax: 1_000,
    idleTimeoutMs: 60_000,
    answerTimeoutMs: 60_000,
    unsentBytesMax: 1_000_000_000,
    log: pino({ level: 'silent' }),
    ...more,
  };
  const listener = new UwsListener(options, binary);
  await listener.listen();
  t.teardown(() => listener.close(0));
  return listener;
}

export function open(t: Lifetime, port: number, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
  socket.on('error', () => undefined).setEncoding('latin1');
  t.teardown(() => socket.destroy());
  return socket;
}

/** A request, as its bytes. */
export const say = (body: string, ...fields: readonly string[]): string =>
  [`POST / HTTP/1.1`, 'Host: a', `Content-Length: ${body.length}`, ...fields, '', body].join(
    '\r\n',
  );

/** Writes, and reads what comes until the connection closes. */
export async function exchange(socket: Socket, text: string): Promise<string> {
  let heard = '';
  socket.on('data', (part: string) => {
    heard += part;
  });
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return heard;
}

/** Writes, and answers the next piece that comes. */
export async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(text, 'latin1');
  const [heard] = await once(socket, 'data');
  return String(heard);
}
