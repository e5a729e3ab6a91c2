/** Commands and a running engine over its real socket. */

import { once } from 'node:events';
import { statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pino } from 'pino';
import type { Test } from 'tap';
import t from 'tap';
import { OperatorDoor } from '../../src/api/operator-door.ts';
import { operatorSocket } from '../../src/api/operator-socket.ts';
import { fetchFromEngine, refusalOf } from '../../src/cli/operator-api.ts';
import { engineSocketPath, lockDataDir } from '../../src/database/embedded/lock.ts';
import type { HttpRequest, Route } from '../../src/http/handler.ts';
import { BODY_BYTES_MAX } from '../../src/http/handler.ts';
import { json } from '../../src/http/json-body.ts';
import { problem } from '../../src/http/problem.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ECHO = 'http://engine/echo';

const route = (path: string, handle: (request: HttpRequest) => ReturnType<typeof json>): Route => ({
  ...{ api: 'operator', operation: null, method: 'POST', path },
  bodyBytesMax: BODY_BYTES_MAX,
  handle,
});
const DOOR = new OperatorDoor([
  route('/echo', ({ query, body }) => json({ query: query.get('a'), body: body.toString() })),
  route('/no', () => problem('r', 409, 'No.')),
  route('/none', () => ({ status: 204, body: '' })),
  route('/fail', () => {
    throw new Error('a secret');
  }),
  route('/accounts/:email', () => {
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  }),
]);

async function held(t: Test, serve: (socket: Socket) => void): Promise<string> {
  const dataDir = join(temporaryDirectory(t), 'data');
  const lock = await lockDataDir(dataDir, serve);
  if (lock.kind !== 'held') throw new Error(lock.kind);
  t.teardown(() => lock.release());
  return dataDir;
}

const engine = (
  t: Test,
  door: OperatorDoor | null,
  log = pino({ level: 'silent' }),
): Promise<string> =>
  held(
    t,
    operatorSocket(() => door, log),
  );

const sentenceOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { readonly detail: string }).detail;

t.test('what is asked is answered; refusals and failures are sentences', async (t) => {
  const dataDir = await engine(t, DOOR);
  t.equal(statSync(engineSocketPath(dataDir)).mode & 0o777, 0o600, 'it is the operator’s alone');
  const ask = fetchFromEngine(dataDir);
  const post = (path: string, body = '') =>
    ask(`http://engine${path}`, { method: 'POST', body, signal: AbortSignal.timeout(5_000) });
  const answer = await post('/echo?a=b%20c', 'a\nb ü');
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'application/json');
  t.same(await answer.json(), { query: 'b c', body: 'a\nb ü' });
  t.same([(await post('/none')).status, (await post('/no')).status], [204, 409]);
  const failed = await post('/fail');
  t.equal(failed.status, 500);
  t.equal(await sentenceOf(failed), 'The engine failed; its log says why.');
  t.equal((await post('/elsewhere')).status, 404);
  t.equal((await post('/echo', 'x'.repeat(BODY_BYTES_MAX + 1))).status, 413);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post('/echo', `${n}`)));
  t.same(
    await Promise.all(answers.map((one) => one.json())),
    Array.from({ length: 20 }, (_, n) => ({ query: null, body: `${n}` })),
  );
});

t.test('what is no request, and who hangs up, does no harm', async (t) => {
  const dataDir = await engine(t, DOOR);
  for (const text of ['not http\r\n\r\n', '{"action":"a"}\n']) {
    const socket = connect(engineSocketPath(dataDir));
    socket.on('error', () => undefined);
    const closed = once(socket, 'close');
    socket.write(text);
    socket.resume();
    await closed;
  }
  const hurried = connect(engineSocketPath(dataDir));
  hurried.write('POST /echo HTTP/1.1\r\nHost: engine\r\nContent-Length: 5\r\n\r\nab');
  await once(hurried, 'connect');
  hurried.destroy();
  t.equal((await fetchFromEngine(dataDir)(ECHO, { method: 'POST' })).status, 200);
});

t.test('an engine that starts, and one that does not run', async (t) => {
  const dataDir = await engine(t, null);
  const answer = await fetchFromEngine(dataDir)(ECHO, { method: 'POST' });
  t.equal(answer.status, 503);
  t.equal(await sentenceOf(answer), 'The engine is still starting.');
  const away = await fetchFromEngine(join(dataDir, 'elsewhere'))(ECHO).catch(refusalOf);
  t.match(
    away,
    /^The engine is not running on .*elsewhere: start it first, or set DATABASE_URL or OPERATOR_URL\.$/,
  );
});

t.test('an engine that dies in the middle, and one that does not answer', async (t) => {
  const dying = await held(t, (socket) => {
    socket.once('data', () => socket.destroy());
  });
  const sentence = 'The engine closed the connection without an answer.';
  t.equal(await fetchFromEngine(dying)(ECHO).catch(refusalOf), sentence);
  const stuck = await held(t, (socket) => socket.on('error', () => undefined).resume());
  const signal = AbortSignal.timeout(50);
  t.equal(await fetchFromEngine(stuck)(ECHO, { signal }).catch(refusalOf), sentence);
});

t.test('a database that is away is no fault of ours, and no address is logged', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const ask = fetchFromEngine(await engine(t, DOOR, log));
  const answer = await ask('http://engine/accounts/anna@acme.example', { method: 'POST' });
  t.equal(answer.status, 503);
  t.equal(await sentenceOf(answer), 'The engine cannot do this at the moment. Try again.');
  t.equal((await ask('http://engine/fail', { method: 'POST' })).status, 500);
  t.match(lines, [
    { level: 40, method: 'POST', route: '/accounts/:email' },
    { level: 50, method: 'POST', route: '/fail' },
  ]);
  t.notMatch(JSON.stringify(lines), 'anna@acme.example');
});

t.test('a target that is no URL is refused', async (t) => {
  const dataDir = await engine(t, DOOR);
  const socket = connect(engineSocketPath(dataDir));
  socket.write('POST http://[ HTTP/1.1\r\nHost: engine\r\nContent-Length: 0\r\n\r\n');
  t.match(String(await buffer(socket)), /^HTTP\/1\.1 400 /);
});

t.test('a body without an end is not kept', async (t) => {
  const call = {
    pattern: '/',
    bodyBytesMax: 10,
    answer: async (body: Buffer) => json(body.length),
  };
  const door = Object.assign(new OperatorDoor([]), { find: () => call });
  const ask = fetchFromEngine(await engine(t, door));
  const answer = await ask(ECHO, { method: 'POST', body: 'x'.repeat(8_388_608) });
  t.ok(Number(await answer.text()) < 1_048_576, 'what the handler gets of it');
});
