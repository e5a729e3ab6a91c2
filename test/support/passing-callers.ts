/** Callers that come and go in every way: after an answer, in the middle, or without a word. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

interface Visits {
  readonly port: number;
  readonly over: 'clear text' | 'TLS';
  readonly count: number;
}

const AT_A_TIME = 50;
/** Requests without a body, which every listener of a test answers. */
const ASK = 'GET /livez HTTP/1.1\r\nHost: a\r\n';
const POST = 'POST /livez HTTP/1.1\r\nHost: a\r\n';

/** Each speaks on its own connection, which the caller or the listener closes then. */
const WAYS: readonly ((socket: Socket) => unknown)[] = [
  (socket) => socket.write(`${ASK}\r\n`, () => socket.once('data', () => socket.destroy())),
  (socket) => socket.write(`${ASK}Connection: close\r\n\r\n`),
  (socket) => socket.destroy(),
  (socket) => socket.end(),
  (socket) => socket.write(`${ASK}Hal`, () => socket.destroy()),
  (socket) => socket.write(`${ASK}\r\n`, () => reset(socket)),
  (socket) => socket.write(`${POST}Content-Length: 9\r\n\r\nhalf`, () => socket.destroy()),
  (socket) => socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n4\r\nha`, () => reset(socket)),
  (socket) => socket.write('no request\r\n\r\n'),
];

/** A TLS socket cannot be reset. */
const reset = (socket: Socket): Socket =>
  'encrypted' in socket ? socket.destroy() : socket.resetAndDestroy();

/** Resolves when all of them have gone. */
export async function comeAndGo({ port, over, count }: Visits): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await visit(port, over, begun);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
}

async function visit(port: number, over: Visits['over'], number: number): Promise<void> {
  // The system needs a minute until an address may have the same port again.
  const localAddress = `127.0.${number % 250}.${1 + (Math.floor(number / 250) % 250)}`;
  const raw = connect({ port, host: '127.0.0.1', localAddress });
  const socket = over === 'TLS' ? connectTls({ socket: raw, rejectUnauthorized: false }) : raw;
  const closed = new Promise((resolve) => raw.once('close', resolve));
  for (const each of [raw, socket]) each.on('error', () => undefined);
  const isOpen = once(socket, over === 'TLS' ? 'secureConnect' : 'connect').then(
    () => true,
    () => false,
  );
  if (await isOpen) {
    socket.resume();
    WAYS[number % WAYS.length]?.(socket);
  }
  await closed;
}
