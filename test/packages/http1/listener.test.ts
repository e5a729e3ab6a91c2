/** The front under callers who send ahead, hang up, wait, or mean harm. */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import type { ServerOptions } from '../../../src/api/server.ts';
import type { Front } from '../../../src/http/choose-front.ts';
import type { HttpRequest, HttpResponse, Route } from '../../../src/http/handler.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';
import { PATIENT_LIMITS, speakRaw, startApi } from '../../support/api.ts';
import { CertificateOnDisk } from '../../support/certificate-on-disk.ts';
import { OWN_FRONT, onEachFront } from '../../support/fronts.ts';
import type { Lifetime } from '../../support/lifetime.ts';
import { until } from '../../support/poll.ts';
import { exchange, open } from '../../support/uws.ts';

const NOBODY = { recall: () => 'missing' as const, authenticate: () => 'missing' as const };

const route = (
  method: 'GET' | 'POST',
  path: string,
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
): Route => ({ api: 'open', method, path, bodyBytesMax: 1_000, operation: null, handle });
const echo = route('POST', '/echo', ({ body }) => ({ status: 200, body }));
const start = (
  t: Lifetime,
  front: Front,
  routes: readonly Route[],
  more: Partial<ServerOptions> = {},
) => startApi(t, NOBODY, routes, { front, limits: PATIENT_LIMITS, ...more });
const { test, testWithPorts } = await onEachFront(t);

const say = (body: string, ...fields: readonly string[]): string =>
  ['POST /echo HTTP/1.1', 'Host: a', `Content-Length: ${body.length}`, ...fields, '', body].join(
    '\r\n',
  );
const CLOSE = 'Connection: close';
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';

/** Bodies of the answers, in their order. */
const bodiesIn = (heard: string): readonly string[] =>
  heard.split(/HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*\r\n/).slice(1);

t.test('own front only: requests that are sent ahead are answered in their order', async (t) => {
  const waiting: (() => void)[] = [];
  const slow = route('POST', '/slow', async ({ body }) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return { status: 200, body };
  });
  const { server } = await start(t, OWN_FRONT, [echo, slow]);
  const first = say('first').replace('/echo', '/slow');
  const heard = speakRaw(server.port, first + say('second') + say('third', CLOSE));
  await until('the first is being handled', () => (waiting.length === 1 ? true : null));
  waiting[0]?.();
  t.same(bodiesIn(await heard), ['first', 'second', 'third']);

  const many = Array.from({ length: 100 }, (_, index) => say(`${index}`)).join('');
  const answers = bodiesIn(await speakRaw(server.port, many + say('last', CLOSE)));
  t.same(answers, [...Array.from({ length: 100 }, (_, index) => `${index}`), 'last']);
});

const cutAtAnyByte =
  (whole: string, bodies: readonly string[]) => async (t: Test, front: Front) => {
    const { server } = await start(t, front, [echo]);
    for (let cut = 1; cut < whole.length; cut += 1) {
      const socket = open(t, server.port);
      socket.write(whole.slice(0, cut));
      await new Promise((resolve) => setImmediate(resolve));
      t.same(bodiesIn(await exchange(socket, whole.slice(cut))), bodies, `cut at ${cut}`);
    }
  };
const IN_CHUNKS = `POST /echo HTTP/1.1\r\nHost: a\r\n${CHUNKED}`;

test('a request cut at any byte is the same request', cutAtAnyByte(say('ab', CLOSE), ['ab']));
testWithPorts(
  'a request in chunks cut at any byte is the same request',
  cutAtAnyByte(`POST /echo HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n${CHUNKED}1\r\na\r\n0\r\n\r\n`, [
    'a',
  ]),
);
t.test('own front only: so are two with an extension and a trailer', (t) =>
  cutAtAnyByte(`${IN_CHUNKS}2;x\r\nab\r\n0\r\nA: b\r\n\r\n${say('next', CLOSE)}`, ['ab', 'next'])(
    t,
    OWN_FRONT,
  ),
);

t.test('own front only: who closes his side after his requests gets his answers', async (t) => {
  const { server } = await start(t, OWN_FRONT, [echo]);
  t.same(bodiesIn(await speakRaw(server.port, say('a') + say('b'), 'hang up')), ['a', 'b']);
  t.equal(await speakRaw(server.port, '', 'hang up'), '');
  t.match(await speakRaw(server.port, 'POST /echo HTTP/1.1\r\nHo', 'hang up'), /^HTTP\/1\.1 400 /);
  t.equal(await speakRaw(server.port, say('abc').slice(0, -1), 'hang up'), '');
});

/** uWebSockets.js reads the last two, and other chunks that are not of the form, as it can. */
const NO_REQUESTS: readonly (readonly [text: string, status: number])[] = [
  ['POST /echo HTTP/1.0\r\nHost: a\r\nContent-Length: 0\r\n\r\n', 505],
  ['POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n', 400],
  [`POST /echo HTTP/1.1\r\nHost: a\r\n${'A: b\r\n'.repeat(120)}\r\n`, 431],
  [`POST /echo HTTP/1.1\r\nHost: a\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`, 431],
  [`POST /echo HTTP/1.1\r\nHost: a\r\nA: ${'b'.repeat(20_000)}`, 431],
  [`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n${CHUNKED}zzz`, 400],
  ['POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
  ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  [`POST /echo HTTP/1.1\r\nHost: a\r\n${CHUNKED}zzz\r\n`, 400],
  [`POST /echo HTTP/1.1\r\nHost: a\r\n${CHUNKED}1\r\nab\r\n`, 400],
];

test('what is no request is the last of its connection', async (t, front) => {
  const { server } = await start(t, front, [echo]);
  for (const [text, status] of front.kind === 'uws' ? NO_REQUESTS.slice(0, -2) : NO_REQUESTS) {
    const heard = await exchange(open(t, server.port), text + say('smuggled'));
    const [line = '', ...others] = heard.match(/HTTP\/1\.1 \d+/g) ?? [];
    const name = JSON.stringify(text.slice(0, 100));
    t.same(others, [], `${name}: nothing behind it is read as a request`);
    t.notMatch(heard, 'smuggled', name);
    if (front.kind === 'uws') {
      t.match(line, /^(?:HTTP\/1\.1 (?:400|431|505))?$/, name);
      continue;
    }
    t.equal(line, `HTTP/1.1 ${status}`, name);
    t.match(heard, /\r\nConnection: close\r\n/);
    t.match(heard, /\r\nContent-Type: application\/problem\+json\r\n/);
    t.match(heard, /"requestId":"[\da-f]{32}"/);
  }
});

t.test(
  'own front only: empty lines before a request are part of what a head may have',
  async (t) => {
    const { server } = await start(t, OWN_FRONT, [echo]);
    t.match(await speakRaw(server.port, '\r\n'.repeat(10_000)), /^HTTP\/1\.1 4(?:00|31) /);
  },
);

t.test('own front only: an empty line before a request may come in two pieces', async (t) => {
  const { server } = await start(t, OWN_FRONT, [echo]);
  const socket = open(t, server.port).setNoDelay(true);
  socket.write('\r');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.write(`\n${say('')}`);
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 /);
});

t.test(
  'own front only: Expect: 100-continue is answered before the body, and a refusal instead of it',
  async (t) => {
    const { server } = await start(t, OWN_FRONT, [echo]);
    const head = say('', 'Expect: 100-continue', CLOSE).replace('Length: 0', 'Length: 2');
    const socket = open(t, server.port);
    socket.setEncoding('latin1').write(head);
    t.equal((await once(socket, 'data'))[0], 'HTTP/1.1 100 Continue\r\n\r\n');
    socket.write('hi');
    t.same(bodiesIn(await readText(socket)), ['hi']);
    const tooLong = say('', 'Expect: 100-continue', CLOSE).replace('Length: 0', 'Length: 2000');
    t.match(await speakRaw(server.port, tooLong), /^HTTP\/1\.1 413 /);
  },
);

test('every answer has a date, and 204 no length', async (t, front) => {
  const none = route('POST', '/none', () => ({ status: 204, body: '' }));
  const { server } = await start(t, front, [none]);
  const heard = await speakRaw(server.port, say('', CLOSE).replace('/echo', '/none'));
  t.match(heard, /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  t.notMatch(heard, /content-length|uwebsockets/i);
});

test('a header value cannot begin another header', async (t, front) => {
  const bad = route('GET', '/bad', () => ({
    status: 200,
    headers: { 'X-A': 'a\r\nX-B: c\u010d\u010a' },
    body: 'ä€',
  }));
  const { server } = await start(t, front, [bad]);
  const heard = await speakRaw(server.port, `GET /bad HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n\r\n`);
  t.match(heard, /\r\nX-A: a\?\?X-B: c\?\?\r\n/);
  t.match(heard, /\r\nContent-Length: 5\r\n.*\r\nä€$/s);
});

t.test(
  'own front only: who never reads is not read from, and costs the others nothing',
  async (t) => {
    let handled = 0;
    const count = route('GET', '/count', () => {
      handled += 1;
      return { status: 200, body: 'x'.repeat(200) };
    });
    const { server, baseUrl } = await start(t, OWN_FRONT, [count, echo]);
    const rude = open(t, server.port);
    const request = 'GET /count HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(1_000);
    // Never read: what the system buffers on both sides is the most that can be answered.
    let isFull = false;
    for (let times = 0; times < 1_000 && !isFull; times += 1) {
      isFull = !rude.write(request) && rude.writableLength > 10_000_000;
      if (times % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(isFull, 'it takes no more of it');
    t.equal(await (await fetch(`${baseUrl}/echo`, { method: 'POST', body: 'hi' })).text(), 'hi');
    const before = await until('it has stopped', async () => {
      const seen = handled;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return handled === seen ? seen : null;
    });
    rude.resume();
    await until('it goes on when the caller reads', () => (handled > before + 1_000 ? true : null));
  },
);

t.test(
  'own front only: a head that does not end is given up, and so is a connection that says nothing',
  async (t) => {
    const { server } = await start(t, OWN_FRONT, [echo], {
      limits: { ...PATIENT_LIMITS, headTimeoutMs: 100, idleTimeoutMs: 300 },
    });
    t.match(await speakRaw(server.port, 'POST /echo HTTP/1.1\r\n'), /^HTTP\/1\.1 408 /);
    t.equal(await speakRaw(server.port, ''), '');
    t.match(await speakRaw(server.port, say('a')), /\r\n\r\na$/, 'after an answer');
    const drip = open(t, server.port);
    const dripping = setInterval(() => drip.write('X'), 20);
    t.teardown(() => clearInterval(dripping));
    t.match(await readText(drip), /^HTTP\/1\.1 408 /, 'byte by byte');
  },
);

test('without room, the longest silent one of the address with most goes', async (t, front) => {
  const lines: string[] = [];
  const metrics = new Metrics();
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  let release = (): void => undefined;
  const wait = route('POST', '/wait', async () => {
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return { status: 200, body: 'done' };
  });
  const { server } = await start(t, front, [echo, wait], {
    connectionsMax: 4,
    log,
  });
  metrics.add(server.metrics);
  const busy = open(t, server.port);
  busy.write(say('x').replace('/echo', '/wait'));
  const other = open(t, server.port, '127.0.0.2');
  await Promise.all([once(busy, 'connect'), once(other, 'connect')]);
  const flood: Socket[] = [];
  for (let number = 0; number < 10; number += 1) {
    const socket = open(t, server.port);
    flood.push(socket.resume());
    await once(socket, 'connect');
  }
  await until('eight had to go', () =>
    flood.filter(({ destroyed }) => destroyed).length === 8 ? true : null,
  );
  t.same(
    flood.map(({ destroyed }) => destroyed),
    [...Array(8).fill(true), false, false],
  );
  other.write(say('me', CLOSE));
  t.same(bodiesIn(await readText(other)), ['me']);
  release();
  t.match(String((await once(busy, 'data'))[0]), /done$/);
  t.equal(lines.length, 1, 'said once');
  t.match(lines[0], /no room for more connections.*ulimit -n/);
  t.match(await metrics.text(), /^tagcast_http_connections_turned_away_total 8$/m);
  await until('the other has left', async () =>
    /^tagcast_http_connections 3$/m.test(await metrics.text()) ? true : null,
  );
});

test('a certificate that is renewed is shown from then on; a bad one is not', async (t, front) => {
  const certificate = await CertificateOnDisk.make(t, 'first');
  const { files: tls } = certificate;
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const { server } = await start(t, front, [echo], { tls, log });
  const shake = async (): Promise<TLSSocket> => {
    const socket = connectTls({ port: server.port, rejectUnauthorized: false });
    t.teardown(() => socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };
  const nameOf = (socket: TLSSocket): string => String(socket.getPeerCertificate().subject.CN);
  const old = await shake();
  t.equal(nameOf(old), 'first');

  await certificate.replace('second');
  await server.reloadCertificate();
  t.equal(nameOf(await shake()), 'second');
  old.write(say('still here', CLOSE));
  t.same(bodiesIn(await readText(old)), ['still here'], 'who is connected stays so');

  writeFileSync(tls.keyFile, 'no key');
  await server.reloadCertificate();
  t.equal(nameOf(await shake()), 'second');
  t.match(lines.at(-1), /TLS_KEY_FILE: .*key\.pem holds no PEM private key/);

  await certificate.replace('third');
  // uWebSockets.js resets a caller who comes in the moment of the change.
  const shown = (): Promise<string | null> => shake().then(nameOf, () => null);
  await until('the change is noticed', async () => ((await shown()) === 'third' ? true : null));
});
