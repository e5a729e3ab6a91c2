/** Bodies that are made while they are sent, on a real socket: form, end, slow callers. */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import type { BodySink } from '../../../packages/http1/src/body-stream.ts';
import type { Front } from '../../../src/http/choose-front.ts';
import type { Route } from '../../../src/http/handler.ts';
import { PATIENT_LIMITS, startApi } from '../../support/api.ts';
import { OWN_FRONT, onEachFront } from '../../support/fronts.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { until } from '../../support/poll.ts';

const NOBODY = { recall: () => 'missing' as const, authenticate: () => 'missing' as const };
const KIBIBYTE = 1_024;
/** More than any system keeps for a connection. */
const BYTES_MAX = 64 * KIBIBYTE * KIBIBYTE;

/** A server with a stream at `/`, which the test feeds by hand. */
async function start(t: Lifetime, front: Front, begin: (sink: BodySink) => void = () => undefined) {
  const sinks: BodySink[] = [];
  let left = 0;
  const route: Route = {
    api: 'open',
    method: 'GET',
    path: '/',
    bodyBytesMax: 100,
    operation: null,
    handle: () => ({
      status: 200,
      body: '',
      stream: (sink) => {
        sinks.push(sink);
        begin(sink);
        return () => {
          left += 1;
        };
      },
    }),
  };
  const { server } = await startApi(t, NOBODY, [route], { front, limits: PATIENT_LIMITS });
  return {
    server,
    sinks,
    left: () => left,
    sink: () => until('the stream has begun', () => sinks[0] ?? null),
  };
}

interface Caller {
  readonly socket: Socket;
  heard(): string;
}

function call(t: Lifetime, port: number, method = 'GET'): Caller {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  socket.write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
  return { socket, heard: () => heard };
}

const { test } = await onEachFront(t);

test('pieces are chunks, each as soon as it comes', async (t, front) => {
  const { server, sink, left } = await start(t, front);
  const { socket, heard } = call(t, server.port);
  const body = await sink();
  body.write('one');
  await until('the first piece', () => (/3\r\none(?:\r\n)?$/.test(heard()) ? true : null));
  const [head = ''] = heard().split('\r\n\r\n');
  t.match(head, /^HTTP\/1\.1 200 OK\r\n/);
  t.match(head, /^Transfer-Encoding: chunked$/m);
  t.match(head, /^Connection: close$/m);
  t.notMatch(head, /Content-Length/);
  body.write('');
  body.write('zwölf');
  const closed = once(socket, 'close');
  body.end();
  body.end();
  body.write('too late');
  await closed;
  t.ok(heard().endsWith('\r\n\r\n3\r\none\r\n6\r\nzwölf\r\n0\r\n\r\n'), heard());
  t.equal(left(), 1, 'it is told once that nobody takes more');
});

test('a body that is complete at once', async (t, front) => {
  const { server, left } = await start(t, front, (sink) => {
    sink.write('all');
    sink.end();
  });
  t.equal(await (await fetch(`http://127.0.0.1:${server.port}/`)).text(), 'all');
  t.equal(left(), 1);
});

test('HEAD has the head alone, and nothing begins', async (t, front) => {
  const { server, sinks } = await start(t, front);
  const { socket, heard } = call(t, server.port, 'HEAD');
  await once(socket, 'close');
  t.match(heard(), /\r\nTransfer-Encoding: chunked\r\n(?:.+\r\n)*\r\n$/);
  t.same(sinks, []);
});

test('a caller who leaves, or closes only its side, is gone', async (t, front) => {
  for (const leave of [
    (socket: Socket) => socket.destroy(),
    (socket: Socket) => socket.resetAndDestroy(),
    (socket: Socket) => socket.end(),
  ]) {
    const { server, sink, left } = await start(t, front);
    const { socket } = call(t, server.port);
    await sink();
    leave(socket);
    await until('the stream is told', () => (left() === 1 ? true : null));
  }
  t.pass('each of them');
});

test('a caller who does not read is disconnected, and little is kept for it', async (t, front) => {
  const { server, sink, left } = await start(t, front);
  const { socket } = call(t, server.port);
  const body = await sink();
  socket.pause();
  const piece = 'x'.repeat(64 * KIBIBYTE);
  let bytes = 0;
  await until('it is disconnected', () => {
    body.write(piece);
    bytes += piece.length;
    return left() === 1 || bytes > BYTES_MAX ? true : null;
  });
  t.ok(bytes <= BYTES_MAX, `after ${bytes} bytes, most of which the system keeps`);
});

test('a server that closes ends streams at once, and waits for no slow one', async (t, front) => {
  const { server, sinks, left } = await start(t, front);
  const reader = call(t, server.port);
  await until('one', () => (sinks.length === 1 ? true : null));
  const slow = call(t, server.port);
  await until('two', () => (sinks.length === 2 ? true : null));
  slow.socket.pause();
  // The system keeps some of it; the rest waits here. It must not be cut off for that yet.
  sinks[1]?.write('x'.repeat(BYTES_MAX / 4));
  sinks[0]?.write('all');
  const closed = once(reader.socket, 'close');
  // With these limits it would wait a minute for answers that are not taken.
  await server.close();
  await closed;
  t.ok(reader.heard().endsWith('\r\n0\r\n\r\n'), 'the body is complete');
  t.equal(left(), 2);
});

t.test('own front only: input during a stream is no request any more', async (t) => {
  const { server, sinks, sink } = await start(t, OWN_FRONT);
  const { socket, heard } = call(t, server.port);
  const body = await sink();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  body.write('all');
  const closed = once(socket, 'close');
  body.end();
  await closed;
  t.ok(heard().endsWith('\r\n\r\n3\r\nall\r\n0\r\n\r\n'), heard());
  t.equal(sinks.length, 1);
});
