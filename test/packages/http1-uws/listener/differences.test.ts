/**
 * The differences from `tagcast-http1`, each shown on both: the table of the package's README.
 * Those that take seconds are in `timeouts.long.ts`.
 */

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextImmediate, setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import type { HttpListener, RequestHandler } from '../../../../packages/http1/src/front.ts';
import { Listener } from '../../../../packages/http1/src/listener.ts';
import { ROOT } from '../../../support/documents.ts';
import { onUws } from '../../../support/fronts.ts';
import type { Lifetime } from '../../../support/lifetime.ts';
import { until } from '../../../support/poll.ts';
import { answer, exchange, open, refuse, say, startUws, whenWhole } from '../../../support/uws.ts';

const CLOSE = 'Connection: close';
const CHUNKED = `POST / HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\nTransfer-Encoding: chunked\r\n\r\n`;
/** Later than a busy machine takes to read a head. */
const LATE_MS = 1_000;
const READ_HEADERS = ['x-a'];

/** Answers with the body, the path and a header, after a moment. */
const handler = whenWhole(({ path, headers }, body, reply) => {
  setTimeout(() => reply.send(answer(`${path} ${headers.get('x-a')} ${body}`)), 20);
});

const lines = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `A${index}: b`);

type Speak = (text: string, afterwards?: 'hang up') => Promise<string>;

async function startOwn(t: Lifetime, handler: RequestHandler): Promise<Listener> {
  const listener = new Listener({
    ...{ host: '127.0.0.1', port: 0, handler, readHeaders: READ_HEADERS, certificate: null },
    ...{ connectionsMax: 10, unsentBytesMax: 1_000_000, log: pino({ level: 'silent' }) },
    ...{ headTimeoutMs: 5_000, idleTimeoutMs: 5_000, answerTimeoutMs: 5_000 },
  });
  await listener.listen();
  t.teardown(() => listener.close(0));
  return listener;
}

/** Each row of the table: the same caller, and the answers of both. */
const DIFFERENCES: Readonly<
  Record<string, readonly [speak: (speak: Speak) => Promise<string>, own: RegExp, uws: RegExp]>
> = {
  'sends a request while an answer is pending': [
    (speak) => speak(say('first') + say('second', CLOSE)),
    /first.*second$/s,
    /^$/,
  ],
  'closes its side after a request': [(speak) => speak(say('alone'), 'hang up'), /alone$/, /^$/],
  'sends what is no request': [
    (speak) => speak('POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n'),
    /^HTTP\/1\.1 400 .*The header Host is missing\.$/s,
    /^HTTP\/1\.1 400 .*<html>|^HTTP\/1\.1 400 .*<h1>/s,
  ],
  'sends 99 or 100 header lines': [
    (speak) => speak(say('', CLOSE, ...lines(96))),
    /\r\n\r\n\/ {2}$/,
    /^HTTP\/1\.1 431 |^$/,
  ],
  'sends extensions of chunks, or trailers': [
    (speak) => speak(`${CHUNKED}2;x=y\r\nab\r\n0\r\nA: b\r\n\r\n`),
    /\/ {2}ab$/,
    /^HTTP\/1\.1 (?:400|505) |^$/,
  ],
  'sends chunks in a lax form': [
    (speak) => speak(`${CHUNKED}2\r\nab--0\r\n\r\n`),
    /^HTTP\/1\.1 400 /,
    /\/ {2}ab$/,
  ],
  'sends `Expect: 100-continue`': [
    (speak) => speak(say('ab', 'Expect: 100-continue', 'X-A: b', 'X-A: c')),
    /^HTTP\/1\.1 400 /,
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /,
  ],
  'asks in absolute form, or `OPTIONS *`': [
    (speak) => speak(`GET http://a/path HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n\r\n`),
    /\/path {2}$/,
    /^HTTP\/1\.1 (?:400|505) |^$/,
  ],
  'sends a header line without a name': [
    (speak) => speak(say('', CLOSE, ': b', 'X-A: c')),
    /^HTTP\/1\.1 400 /,
    /\r\n\r\n\/ {2}$/,
  ],
  'sends header values above ASCII': [
    (speak) => speak(say('', 'X-A: \xe4b\xc3\xa4c', CLOSE)),
    /\r\n\r\n\/ \xc3\xa4b\xc3\x83\xc2\xa4c $/,
    /\r\n\r\n\/ b\xc3\xa4c $/,
  ],
};
/** Shown elsewhere, or not to be shown. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'does not end its head': 'timeouts.long.ts',
  'sends an empty line before a request': 'here, below: no answer comes',
  'is still sending when its last answer comes': 'here, below: until when it may send',
  'takes nothing of an answer': 'timeouts.long.ts',
  'uses one port for two addresses of ours': 'rules.test.ts',
  'asks for no body again and again (`HEAD`)': 'rules.test.ts',
  'does not read': 'here, below: `unsentBytes`',
};

const { test } = await onUws(t);

test('98 header lines are taken', async (t, binary) => {
  const listener = await startUws(t, binary, handler, { readHeaders: READ_HEADERS });
  t.match(await exchange(open(t, listener.port), say('', CLOSE, ...lines(95))), /^HTTP\/1\.1 200 /);
});

t.test('the README has each difference', (t) => {
  const readme = readFileSync(join(ROOT, 'packages/http1-uws/README.md'), 'utf8');
  const [, table = ''] = /^\| a caller that .*\n\|[- |]+\|\n((?:\|.*\n)+)/m.exec(readme) ?? [];
  const rows = table
    .trimEnd()
    .split('\n')
    .map((row) => row.split('|')[1]?.trim());
  t.same(rows.toSorted(), Object.keys({ ...DIFFERENCES, ...ELSEWHERE }).toSorted());
  t.end();
});

for (const [name, [call, own, uws]] of Object.entries(DIFFERENCES)) {
  test(`a caller that ${name}`, async (t, binary) => {
    const speakTo =
      ({ port }: HttpListener): Speak =>
      (text, afterwards) => {
        const socket = open(t, port);
        const heard = exchange(socket, text);
        if (afterwards === 'hang up') socket.end();
        return heard;
      };
    const listener = await startOwn(t, handler);
    const other = await startUws(t, binary, handler, { readHeaders: READ_HEADERS });
    t.match(await call(speakTo(listener)), own, 'tagcast-http1');
    t.match(await call(speakTo(other)), uws, 'uWebSockets.js');
  });
}

test('a caller that sends an empty line before a request', async (t, binary) => {
  let handled = 0;
  const listener = await startUws(t, binary, {
    begin: () => {
      handled += 1;
      return null;
    },
    refuse: () => undefined,
  });
  open(t, listener.port).write(`\r\n${say('')}`);
  await sleep(100);
  t.equal(handled, 0);
});

test('a caller that is still sending when its last answer comes', async (t, binary) => {
  const early: RequestHandler = {
    begin(_head, reply) {
      reply.send(answer('early', { closes: true }));
      return null;
    },
    refuse,
  };
  /** Milliseconds until it is closed. */
  const sendTo = async ({ port }: HttpListener): Promise<[heard: string, ms: number]> => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined).setEncoding('latin1');
    let heard = '';
    socket.on('data', (text: string) => {
      heard += text;
    });
    const begunMs = performance.now();
    socket.write(say('x'.repeat(1_000_000)).slice(0, 200));
    const sender = setInterval(() => socket.write('x'.repeat(1_000)), 20);
    // It may be a reset.
    await new Promise((resolve) => socket.once('close', resolve));
    clearInterval(sender);
    return [heard, performance.now() - begunMs];
  };
  const [ownHeard, ownMs] = await sendTo(await startOwn(t, early));
  t.match(ownHeard, /early$/);
  t.ok(ownMs > 1_500, `tagcast-http1 reads on: ${ownMs} ms`);
  const [uwsHeard, uwsMs] = await sendTo(await startUws(t, binary, early));
  t.match(uwsHeard, /early$|^$/);
  t.ok(uwsMs < ownMs, `uWebSockets.js closes: ${uwsMs} ms`);
});

test('a caller that does not read', async (t, binary) => {
  const BODY = 'x'.repeat(10_000);
  let handled = 0;
  const often = whenWhole((_head, _body, reply) => {
    handled += 1;
    reply.send(answer(BODY));
  });
  const listener = await startUws(t, binary, often);
  const socket = open(t, listener.port).pause();
  // Until the system takes no more: a part of the answer before is with uWebSockets.js then.
  while (listener.crowd.unsentBytes === 0) {
    const before = handled;
    socket.write(say(''));
    while (handled === before) await nextImmediate();
    await nextImmediate();
  }
  t.equal(listener.crowd.unsentBytes, BODY.length, 'neither that part nor the head is counted');
  let heard = '';
  socket.on('data', (text: string) => {
    heard += text;
  });
  socket.resume();
  await until('all has come', () => (listener.crowd.unsentBytes === 0 ? true : null));
  await until('all is whole', () => (heard.split(BODY).length === handled + 1 ? true : null));
});

test('Node 20: a body in chunks whose first chunk comes late', async (t, binary) => {
  const listener = await startUws(t, binary, handler, { readHeaders: READ_HEADERS });
  const socket = open(t, listener.port);
  setTimeout(() => socket.write('2\r\nab\r\n0\r\n\r\n'), LATE_MS);
  const heard = await exchange(socket, CHUNKED);
  t.match(heard, binary.hasPorts ? /ab$/ : /^$/);
  t.equal(listener.crowd.size, 0);
});
