/** The server under callers that behave badly: slow, gone, huge, malformed; and how it ends. */

import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { text as bodyText } from 'node:stream/consumers';
import { pino } from 'pino';
import t from 'tap';
import type { ServerOptions } from '../../src/api/server.ts';
import type { Caller } from '../../src/domain/caller.ts';
import type { Front } from '../../src/http/choose-front.ts';
import type { HttpRequest, HttpResponse, Route } from '../../src/http/handler.ts';
import { PATIENT_LIMITS, speakRaw, startApi } from '../support/api.ts';
import { CertificateOnDisk } from '../support/certificate-on-disk.ts';
import { onEachFront } from '../support/fronts.ts';
import type { Lifetime } from '../support/lifetime.ts';
import { until } from '../support/poll.ts';
import { freePorts } from '../support/programs.ts';

const CALLER: Caller = {
  role: 'api-user',
  clientId: 1,
  clientSlug: 'demo',
  appId: 1,
  userName: 'demo-app-1',
  method: 'bearer',
};
const ANYBODY = { recall: () => CALLER, authenticate: () => CALLER };

const text = (body: string): HttpResponse => ({
  status: 200,
  headers: { 'Content-Type': 'text/plain' },
  body,
});

const route = (
  path: string,
  handle: (request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
  bodyBytesMax = 1_000,
): Route => ({ api: 'app', method: 'POST', path, bodyBytesMax, operation: null, handle });

const echo = route('/echo', ({ body }) => text(body.toString('utf8')));
const start = (
  t: Lifetime,
  front: Front,
  routes: readonly Route[],
  more: Partial<ServerOptions> = {},
) => startApi(t, ANYBODY, routes, { front, ...more });
const { test, testWithPorts } = await onEachFront(t);
const post = (url: string, body: string | Buffer | ReadableStream, more: object = {}) =>
  fetch(url, { method: 'POST', body, duplex: 'half', ...more } as RequestInit);

test('a caller that a proxy names without being trusted is logged once in a while', async (t, front) => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  const { baseUrl } = await start(t, front, [echo], { log });
  await post(`${baseUrl}/echo`, '');
  t.same(lines, []);
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    await post(`${baseUrl}/echo`, '', { headers: { 'X-Forwarded-For': address } });
  }
  t.match(lines, [/"address":"127\.0\.0\.1","times":1,"msg":"[^"]*TRUSTED_PROXIES[^"]*"/]);
  t.equal(lines.length, 1);
});

test('a handler sees the request as it was', async (t, front) => {
  const seen: HttpRequest[] = [];
  const look = route('/look/:name', (request) => {
    seen.push(request);
    return text('');
  });
  const { baseUrl } = await start(t, front, [look]);
  const headers = { 'Idempotency-Key': 'k', 'X-Request-Id': 'mine 1' };
  const response = await post(`${baseUrl}/look/a%2Fb?x=1&y=%20`, 'böd', { headers });
  t.equal(response.headers.get('x-request-id'), 'mine 1');
  const [request] = seen;
  t.match(request, { method: 'POST', path: '/look/a%2Fb', params: { name: 'a/b' } });
  t.equal(request?.query.get('y'), ' ');
  t.equal(request?.header('idempotency-key'), 'k');
  t.equal(request?.header('if-none-match'), '');
  t.equal(request?.hasHeader('idempotency-key'), true);
  t.equal(request?.hasHeader('if-none-match'), false);
  t.throws(() => request?.header('referer'), /is not read/);
  t.equal(request?.body.toString(), 'böd');
  t.equal(request?.address, '127.0.0.1');
  t.equal(request?.requestId, 'mine 1');
});

test('bodies: none, in pieces, chunked, at the limit and above it', async (t, front) => {
  const { baseUrl, server } = await start(t, front, [echo]);
  t.equal(await (await post(`${baseUrl}/echo`, '')).text(), '');
  t.equal(await (await post(`${baseUrl}/echo`, 'x'.repeat(1_000))).text(), 'x'.repeat(1_000));
  const head = 'POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n';
  t.match(
    await speakRaw(
      server.port,
      `${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`,
    ),
    /abcde$/,
  );
  for (const length of [1_001, 5_000_000]) {
    const response = await post(`${baseUrl}/echo`, Buffer.alloc(length, 'x'));
    t.equal(response.status, 413, `declared ${length}`);
    t.match(await response.json(), { status: 413, detail: /1000 bytes/ });
  }
  const pieces = new ReadableStream({
    start(controller) {
      for (let piece = 0; piece < 20; piece += 1) controller.enqueue(Buffer.alloc(100, 'x'));
      controller.close();
    },
  });
  t.equal((await post(`${baseUrl}/echo`, pieces)).status, 413, 'not declared');
});

testWithPorts('the connection stays in step after a refused body', async (t, front) => {
  const { server } = await start(t, front, [echo]);
  const first = `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n${'x'.repeat(2_000)}`;
  const second =
    'POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\nagain';
  const heard = await speakRaw(server.port, first + second);
  t.match(heard, /^HTTP\/1\.1 413 .*HTTP\/1\.1 200 .*again$/s);
});

test('what is no HTTP gets no answer, and the next caller does', async (t, front) => {
  const { baseUrl, server } = await start(t, front, [echo]);
  for (const bad of [
    'POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n',
    'POST /echo HTTP/1.0\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
    'nonsense\r\n\r\n',
    'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n',
    'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nzzz',
  ]) {
    const heard = await speakRaw(server.port, bad, 'hang up');
    t.notMatch(heard, /200 OK/, JSON.stringify(bad));
  }
  t.equal(await (await post(`${baseUrl}/echo`, 'alive')).text(), 'alive');
});

test('unknown paths, other methods, bad percent-encoding', async (t, front) => {
  const { baseUrl, server } = await start(t, front, [echo, route('/one/:id', () => text('one'))]);
  const unknown = await fetch(`${baseUrl}/nothing`);
  t.equal(unknown.status, 404);
  t.equal(unknown.headers.get('content-type'), 'application/problem+json');
  const problem = (await unknown.json()) as { requestId: string };
  t.equal(problem.requestId, unknown.headers.get('x-request-id'));
  const other = await fetch(`${baseUrl}/echo`);
  t.equal(other.status, 405);
  t.equal(other.headers.get('allow'), 'POST, OPTIONS');
  const raw = 'POST /one/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
  t.match(await speakRaw(server.port, raw), /^HTTP\/1\.1 400 /);
});

test('HEAD is answered without a body on every path, and the connection goes on', async (t, front) => {
  const live: Route = {
    api: 'open',
    operation: null,
    method: 'GET',
    path: '/live',
    bodyBytesMax: 0,
    handle: () => text('alive'),
  };
  const { server } = await start(t, front, [echo, live]);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ports = new Set<number | undefined>();
  for (const [method, path, status, body] of [
    ['HEAD', '/nothing', 404, ''],
    ['HEAD', '/echo', 405, ''],
    ['HEAD', '/live', 200, ''],
    ['OPTIONS', '/echo', 204, ''],
    ['GET', '/live', 200, 'alive'],
  ] as const) {
    const call = httpRequest({ port: server.port, agent, method, path }).end();
    const [response] = await once(call, 'response');
    t.equal(response.statusCode, status, path);
    t.equal(await bodyText(response), body);
    if (method === 'HEAD') t.ok(Number(response.headers['content-length']) > 0);
    ports.add(call.socket?.localPort);
  }
  t.equal(ports.size, 1, 'one connection for all');
});

test('a proxy may add its X-Forwarded-For as a line of its own', async (t, front) => {
  const where = route('/where', ({ address }) => text(address));
  const { server } = await start(t, front, [where], { trustedProxies: ['127.0.0.1'] });
  const heard = await speakRaw(
    server.port,
    'POST /where HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n' +
      'X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n',
  );
  t.match(
    heard,
    /\r\n198\.51\.100\.7$/,
    'the last is what the proxy heard, the first what the caller wrote',
  );
});

test('on `::` an IPv4 caller has his IPv4 address', async (t, front) => {
  const where = route('/where', ({ address }) => text(address));
  const { baseUrl } = await start(t, front, [where], { host: '::' });
  t.equal(await (await post(`${baseUrl}/where`, '')).text(), '127.0.0.1');
});

test('a request id that is not sane is replaced', async (t, front) => {
  const { baseUrl, server } = await start(t, front, [echo]);
  const idOf = async (id: string) =>
    (await post(`${baseUrl}/echo`, '', { headers: { 'X-Request-Id': id } })).headers.get(
      'x-request-id',
    );
  t.equal(await idOf('x'.repeat(128)), 'x'.repeat(128));
  t.match(await idOf('x'.repeat(129)), /^[0-9a-f]{32}$/);
  const raw = `POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Request-Id: a\x01b\r\nContent-Length: 0\r\n\r\n`;
  t.notOk((await speakRaw(server.port, raw, 'hang up')).includes('a\x01b'));
});

test('a slow body ends with 408 and leaves nothing behind', async (t, front) => {
  const { server } = await start(t, front, [echo], {
    limits: { ...PATIENT_LIMITS, bodyTimeoutMs: 300 },
  });
  const heard = await speakRaw(
    server.port,
    'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf',
  );
  t.match(heard, /^HTTP\/1\.1 408 /);
  await server.close();
});

test('who goes away, before or after his body, leaves nothing behind', async (t, front) => {
  let release = (): void => undefined;
  let entered = 0;
  const wait = route('/wait', async () => {
    entered += 1;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return text('late');
  });
  const { server, baseUrl } = await start(t, front, [echo, wait], {
    limits: { ...PATIENT_LIMITS, requestsMax: 4 },
  });
  for (let times = 0; times < 5; times += 1) {
    const socket = connect(server.port, '127.0.0.1');
    socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf');
    await once(socket, 'connect');
    socket.destroy();
  }
  const controller = new AbortController();
  const left = post(`${baseUrl}/wait`, 'x', { signal: controller.signal });
  await until('the handler runs', () => (entered === 1 ? true : null));
  controller.abort();
  await t.rejects(left);
  release();
  await until('there is room again', async () =>
    (await post(`${baseUrl}/echo`, 'x')).status === 200 ? true : null,
  );
  await server.close();
});

test('too many at once are told so, and when to come again', async (t, front) => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let entered = 0;
  const wait = route('/wait', async () => {
    entered += 1;
    await released;
    return text('done');
  });
  // One address has half of them.
  const { baseUrl } = await start(t, front, [wait], {
    limits: { ...PATIENT_LIMITS, requestsMax: 6 },
  });
  const first = Array.from({ length: 3 }, () => post(`${baseUrl}/wait`, ''));
  await until('three are inside', () => (entered === 3 ? true : null));
  const fourth = await post(`${baseUrl}/wait`, '');
  t.equal(fourth.status, 503);
  t.equal(fourth.headers.get('retry-after'), '2');
  release();
  for (const response of await Promise.all(first)) t.equal(await response.text(), 'done');
  t.equal((await post(`${baseUrl}/wait`, '')).status, 200);
});

test('all bodies together are bounded', async (t, front) => {
  const { baseUrl, server } = await start(t, front, [echo], {
    limits: { ...PATIENT_LIMITS, bodyBytesMax: 2_000 },
  });
  const socket = connect(server.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.write(`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 700\r\n\r\n${'x'.repeat(600)}`);
  await until('there is no room', async () =>
    (await post(`${baseUrl}/echo`, 'x'.repeat(200))).status === 503 ? true : null,
  );
  t.equal((await post(`${baseUrl}/echo`, 'x'.repeat(50))).status, 200);
});

test('what throws is 500 without details; a store that is away is 503', async (t, front) => {
  const gone = Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
  const { baseUrl } = await start(t, front, [
    route('/throw', () => {
      throw new Error('a secret');
    }),
    route('/reject', () => Promise.reject(new Error('a secret'))),
    route('/gone', () => Promise.reject(gone)),
  ]);
  for (const path of ['throw', 'reject']) {
    const response = await post(`${baseUrl}/${path}`, '');
    t.equal(response.status, 500);
    t.notMatch(await response.text(), /secret|\.ts|\.js/);
  }
  const response = await post(`${baseUrl}/gone`, '');
  t.equal(response.status, 503);
  t.equal(response.headers.get('retry-after'), '2');
});

test('CORS: every origin, or those that are configured; preflights; never cookies', async (t, front) => {
  const preflight = { method: 'OPTIONS', headers: { Origin: 'https://a.example' } };
  const every = await start(t, front, [echo]);
  const answer = await fetch(`${every.baseUrl}/echo`, preflight);
  t.equal(answer.status, 204);
  t.equal(answer.headers.get('access-control-allow-origin'), '*');
  t.equal(answer.headers.get('access-control-allow-methods'), 'POST');
  t.match(answer.headers.get('access-control-allow-headers'), /Authorization, Content-Type/);
  t.ok(Number(answer.headers.get('access-control-max-age')) > 0);
  for (const [asked, allowed] of [
    ['authorization,traceparent,x-requested-with', 'authorization,traceparent,x-requested-with'],
    ['no header; names', /^Authorization, Content-Type/],
  ] as const) {
    const headers = { ...preflight.headers, 'Access-Control-Request-Headers': asked };
    const particular = await fetch(`${every.baseUrl}/echo`, { ...preflight, headers });
    t.match(particular.headers.get('access-control-allow-headers'), allowed);
  }
  t.equal(answer.headers.get('access-control-allow-credentials'), null);
  const call = (baseUrl: string, origin?: string) =>
    post(`${baseUrl}/echo`, '', { headers: origin === undefined ? {} : { Origin: origin } });
  const exposed = (await call(every.baseUrl, 'https://a.example')).headers;
  t.equal(exposed.get('access-control-allow-origin'), '*');
  t.match(exposed.get('access-control-expose-headers'), /Tagcast-Ignored, ETag, X-Request-Id/);
  t.equal((await call(every.baseUrl)).headers.get('access-control-allow-origin'), null);

  const some = await start(t, front, [echo], { corsOrigins: ['https://a.example'] });
  const allowed = (await call(some.baseUrl, 'https://a.example')).headers;
  t.equal(allowed.get('access-control-allow-origin'), 'https://a.example');
  t.equal(allowed.get('vary'), 'Origin');
  const refused = (await call(some.baseUrl, 'https://b.example')).headers;
  t.equal(refused.get('access-control-allow-origin'), null);
  t.equal(refused.get('vary'), 'Origin');
  const other = { method: 'OPTIONS', headers: { Origin: 'https://b.example' } };
  const refusedPreflight = (await fetch(`${some.baseUrl}/echo`, other)).headers;
  t.equal(refusedPreflight.get('access-control-allow-methods'), null);
});

test('closing waits for the answer under way, and not for idle connections', async (t, front) => {
  let release = (): void => undefined;
  let entered = 0;
  const wait = route('/wait', async () => {
    entered += 1;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return text('done');
  });
  const { server, baseUrl } = await start(t, front, [echo, wait]);
  const idle = connect(server.port, '127.0.0.1');
  idle.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi');
  await once(idle, 'data');
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const call = httpRequest(`${baseUrl}/wait`, { method: 'POST', agent });
  call.end('x');
  await until('the handler runs', () => (entered === 1 ? true : null));
  const idleClosed = once(idle, 'close');
  const closed = server.close();
  await t.rejects(post(`${baseUrl}/echo`, 'x'), 'nobody new is let in');
  release();
  const [response] = await once(call, 'response');
  t.equal(response.headers.connection, 'close');
  response.resume();
  await closed;
  idle.resume();
  await idleClosed;
});

test('a request that comes while the server closes is answered', async (t, front) => {
  const { server } = await start(t, front, [echo], {
    // A busy machine must not let it pass before the late request comes.
    limits: { ...PATIENT_LIMITS, closingGraceMs: 2_000 },
  });
  const say = 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi';
  const openIdle = async () => {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(say);
    await once(socket, 'data');
    return socket;
  };
  const [late, idle] = [await openIdle(), await openIdle()];
  const isIdleClosed = once(idle.resume(), 'close');
  const closed = server.close();
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.notOk(late.destroyed || idle.destroyed, 'both may still ask');
  late.write(say);
  const isClosed = once(late, 'close').then(() => ['closed without an answer']);
  const [answer] = await Promise.race([once(late, 'data'), isClosed]);
  t.match(String(answer), /^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Connection: close\r\n/);
  late.resume();
  await closed;
  await isIdleClosed;
});

test('HTTPS with a certificate of its own', async (t, front) => {
  const certificate = await CertificateOnDisk.make(t);
  const { files: tls } = certificate;
  const { server } = await start(t, front, [echo], { tls });
  const call = httpsRequest({
    port: server.port,
    path: '/echo',
    method: 'POST',
    ca: certificate.pem,
    servername: 'localhost',
    agent: false,
  });
  call.end('safe');
  const [response] = await once(call, 'response');
  t.equal(await bodyText(response), 'safe');
  const missing = { certFile: `${tls.certFile}-none`, keyFile: tls.keyFile };
  await t.rejects(start(t, front, [echo], { tls: missing }));
});

test('a port that is taken is said in a sentence', async (t, front) => {
  const { server } = await start(t, front, []);
  await t.rejects(
    start(t, front, [], { port: server.port }),
    /^PORT: \d+ is in use on 127\.0\.0\.1: /,
  );
});

test('two servers do not share a port that both name', async (t, front) => {
  const [port = 0] = await freePorts(1);
  await start(t, front, [], { port });
  await t.rejects(start(t, front, [], { port }), /^PORT: \d+ is in use on 127\.0\.0\.1: /);
});
