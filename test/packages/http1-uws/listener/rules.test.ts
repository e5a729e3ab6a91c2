/** The rules that keep uWebSockets.js from reading freed memory: those of the package's README. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { BodySink } from '../../../../packages/http1/src/body-stream.ts';
import { ChunkedBody } from '../../../../packages/http1/src/chunked-body.ts';
import type { Receiver, Reply, RequestHandler } from '../../../../packages/http1/src/front.ts';
import { ROOT } from '../../../support/documents.ts';
import { onUws } from '../../../support/fronts.ts';
import { until } from '../../../support/poll.ts';
import {
  answer,
  ask,
  echo,
  exchange,
  open,
  refuse,
  say,
  startUws,
  whenWhole,
} from '../../../support/uws.ts';

const CLOSE = 'Connection: close';
const { test, testWithPorts } = await onUws(t);

t.test('each rule of the README has a test', (t) => {
  const readme = readFileSync(join(ROOT, 'packages/http1-uws/README.md'), 'utf8');
  const rules = [...readme.matchAll(/^- \((\w)\) /gm)].map(([, letter = '']) => letter);
  const source = readFileSync(join(ROOT, 'test/packages/http1-uws/listener/rules.test.ts'), 'utf8');
  const names = [...source.matchAll(/^test(?:WithPorts)?\('((?:\(\w\) )+)/gm)].join();
  t.ok(rules.length > 11);
  for (const letter of rules) t.match(names, `(${letter})`);
  t.end();
});

test('(a) nothing is used of a connection that has ended', async (t, binary) => {
  const replies: Reply[] = [];
  let aborted = 0;
  const listener = await startUws(t, binary, {
    begin: (_head, reply): Receiver => {
      replies.push(reply);
      return {
        data: () => undefined,
        abort: () => {
          aborted += 1;
        },
      };
    },
    refuse,
  });
  const sockets = Array.from({ length: 100 }, () => open(t, listener.port));
  for (const socket of sockets) socket.write(say('hi'));
  await until('all are being handled', () => (replies.length === 100 ? true : null));
  for (const [index, socket] of sockets.entries()) {
    if (index % 2 === 0) socket.destroy();
    else socket.resetAndDestroy();
  }
  await until('all have left', () => (listener.crowd.size === 0 ? true : null));
  t.equal(aborted, 100, 'each handler hears of it');
  const next = open(t, listener.port);
  next.write(say('me'));
  await until('the next is being handled', () => (replies.length === 101 ? true : null));
  for (const reply of replies.slice(0, 100)) reply.send(answer('late'.repeat(100_000)));
  // The tick looks at every connection.
  await sleep(600);
  replies[100]?.send(answer('mine'));
  t.match(String((await once(next, 'data'))[0]), /\r\n\r\nmine$/, 'memory is used again');
});

testWithPorts('(a) one port of a caller is one connection', async (t, binary) => {
  const later = whenWhole((_head, body, reply) => setTimeout(() => reply.send(answer(body)), 5));
  const listener = await startUws(t, binary, later, { host: '0.0.0.0' });
  const { port } = listener;
  const first = open(t, port);
  t.match(await ask(first, say('first')), /first$/);
  const localPort = first.localPort ?? 0;
  for (let time = 0; time < 3; time += 1) {
    const second = connect({ port, host: '127.0.0.2', localAddress: '127.0.0.1', localPort });
    t.teardown(() => second.destroy());
    second.on('error', () => undefined).setEncoding('latin1');
    t.equal(await exchange(second, say('second')), '', 'the second is closed');
    t.match(await ask(first, say('still')), /still$/);
  }
  t.equal(listener.crowd.size, 1);
  first.destroy();
  await until('the end of the first is heard of', () => (listener.crowd.size === 0 ? true : null));
});

test('(a) a connection that ends with the head of its request', async (t, binary) => {
  const listener = await startUws(t, binary, echo);
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  for (let round = 0; round < 20; round += 1) {
    const sockets = Array.from({ length: 12 }, () => open(t, listener.port).resume());
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const [index, socket] of sockets.entries()) {
      // uWebSockets.js refuses extensions of chunks.
      if (index % 3 === 0) socket.write(`${head}2;x=y\r\nab\r\n`);
      else if (index % 3 === 1) socket.end(head);
      else socket.write(head, () => socket.resetAndDestroy());
    }
    await until('all have left', () => (listener.crowd.size === 0 ? true : null));
  }
  t.match(await ask(open(t, listener.port), say('next')), /next$/);
});

test('(b) an end is heard of after any number of answers', async (t, binary) => {
  const listener = await startUws(t, binary, echo);
  for (const times of [0, 1, 2, 20]) {
    const socket = open(t, listener.port);
    await once(socket, 'connect');
    for (let time = 0; time < times; time += 1) {
      t.match(await ask(socket, say(`${time}`)), new RegExp(`\r\n\r\n${time}$`));
    }
    await until('it is counted', () => (listener.crowd.size === 1 ? true : null));
    socket.destroy();
    await until(`its end is heard of, after ${times}`, () =>
      listener.crowd.size === 0 ? true : null,
    );
  }
});

test('(c) connections that close with their answers are counted, each once', async (t, binary) => {
  const later = whenWhole((_head, body, reply) => setTimeout(() => reply.send(answer(body)), 5));
  const listener = await startUws(t, binary, later);
  const kept = Array.from({ length: 10 }, () => open(t, listener.port));
  for (const socket of kept) t.match(await ask(socket, say('kept')), /kept$/);
  const closing = Array.from({ length: 30 }, () => open(t, listener.port));
  const heard = await Promise.all(closing.map((socket) => exchange(socket, say('last', CLOSE))));
  for (const text of heard) t.match(text, /\r\n\r\nlast$/);
  await until('those that were kept are left', () => (listener.crowd.size === 10 ? true : null));
  for (const socket of kept) t.match(await ask(socket, say('again')), /again$/);
});

test('(c) others are closed while an answer is written', async (t, binary) => {
  const large = Buffer.alloc(20_000_000, 'x');
  const handler = whenWhole((_head, _body, reply) => reply.send(answer(large)));
  const listener = await startUws(t, binary, handler, { unsentBytesMax: 45_000_000 });
  const rude = Array.from({ length: 6 }, () => open(t, listener.port).pause());
  for (const socket of rude) socket.write(say(''));
  await until('all but two had to go', () => (listener.crowd.cutOff === 4 ? true : null));
  await until('their ends are heard of', () => (listener.crowd.size === 2 ? true : null));
  const polite = open(t, listener.port, '127.0.0.2');
  let bytes = 0;
  polite.on('data', (text: string) => {
    bytes += text.length;
  });
  polite.write(say('', CLOSE));
  await once(polite, 'close');
  t.ok(bytes > large.length, `${bytes} bytes`);
  t.equal(listener.crowd.cutOff, 5, 'one more, of the address with most');
});

test('(d) (e) bodies, answered with their last piece, one after the other', async (t, binary) => {
  const listener = await startUws(t, binary, echo);
  const socket = open(t, listener.port);
  for (let size = 1; size < 200; size += 1) {
    t.match(await ask(socket, say('x'.repeat(size))), /200 OK/);
  }
  const [head = '', body = ''] = say('in two pieces').split(/(?<=\r\n\r\n)/);
  for (let time = 0; time < 20; time += 1) {
    socket.write(head);
    await sleep(2);
    t.match(await ask(socket, body), /in two pieces$/);
  }
});

testWithPorts('(f) a request without a body may be cut at any byte', async (t, binary) => {
  const listener = await startUws(t, binary, echo);
  const socket = open(t, listener.port);
  for (const whole of [say(''), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', say('abc')]) {
    for (let cut = 1; cut < whole.length; cut += 1) {
      socket.write(whole.slice(0, cut));
      await sleep(1);
      t.match(await ask(socket, whole.slice(cut)), /200 OK/, `cut at ${cut}`);
    }
  }
});

testWithPorts('(g) a handler hears of chunks before there is one', async (t, binary) => {
  const heard: string[] = [];
  const listener = await startUws(t, binary, {
    begin: (_head, reply): Receiver => ({
      data(piece, isLast) {
        heard.push(`${piece}`);
        if (isLast) reply.send(answer(heard.join('|')));
      },
      abort: () => undefined,
    }),
    refuse,
  });
  const socket = open(t, listener.port);
  socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
  await until('there is no chunk', () => (heard.length === 1 ? true : null));
  t.match(await ask(socket, '2\r\nab\r\n0\r\n\r\n'), /\r\n\r\n\|ab(?:\|)?$/);
});

test('(h) who sends ahead and never reads is bounded', async (t, binary) => {
  let handled = 0;
  const handler = whenWhole((_head, _body, reply) => {
    handled += 1;
    reply.send(answer('x'.repeat(200)));
  });
  const listener = await startUws(t, binary, handler);
  const rude = open(t, listener.port).pause();
  rude.write(say('').repeat(5_000));
  await until('it is closed', () => (handled > 0 && listener.crowd.size === 0 ? true : null));
  t.ok(handled <= 33, `${handled} were handled`);
  t.match(await ask(open(t, listener.port), say('')), /200 OK/);
});

test('(h) who asks for no bodies and never reads is bounded', async (t, binary) => {
  let handled = 0;
  const handler = whenWhole(({ method, path }, _body, reply) => {
    handled += 1;
    reply.send(
      answer(path === '/body' ? 'body' : '', {
        isHead: method === 'HEAD',
        writeFields: (write) => write('X-Large', 'x'.repeat(4_096)),
      }),
    );
  });
  const listener = await startUws(t, binary, handler);
  for (const method of ['HEAD', 'OPTIONS']) {
    const rude = open(t, listener.port).pause();
    handled = 0;
    for (let asked = 1; listener.crowd.size > 0 || asked === 1; asked += 1) {
      rude.write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`);
      await until('it is handled, or closed', () =>
        handled === asked || (asked > 1 && listener.crowd.size === 0) ? true : null,
      );
      await sleep(1);
      if (asked > 100) break;
    }
    t.equal(listener.crowd.size, 0, `${method}: it is closed`);
    t.equal(handled, 17, 'after 64 KiB, and one more');
  }
  const polite = open(t, listener.port);
  for (let time = 0; time < 30; time += 1) {
    t.match(await ask(polite, 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'), /200 OK/);
    if (time % 10 === 9)
      t.match(await ask(polite, 'GET /body HTTP/1.1\r\nHost: a\r\n\r\n'), /body$/);
  }
  t.equal(listener.crowd.size, 1, 'an answer with a body shows that the caller reads');
});

test('(i) last answers of any length are whole', async (t, binary) => {
  let next = { length: 0, isHead: false, status: 200 };
  const handler = whenWhole((_head, _body, reply) => {
    const { length, isHead, status } = next;
    setImmediate(() => reply.send(answer('x'.repeat(length), { isHead, status, closes: true })));
  });
  const listener = await startUws(t, binary, handler);
  const cases = [0, 1, 16_000, 16_384, 16_385, 40_000, 5_000_000].flatMap((length) => [
    { length, isHead: false, status: 200 },
    { length, isHead: true, status: 200 },
  ]);
  for (const one of [...cases, { length: 0, isHead: false, status: 204 }]) {
    for (const fields of [[], [CLOSE]]) {
      next = one;
      const heard = await exchange(open(t, listener.port), say('', ...fields));
      const [head = '', ...rest] = heard.split('\r\n\r\n');
      const name = `${JSON.stringify(one)} ${fields}`;
      t.equal(rest.join('').length, one.isHead ? 0 : one.length, name);
      t.equal(head.match(/\r\nConnection: close/g)?.length, 1, name);
      t.equal(
        /Content-Length: (\d+)/.exec(head)?.[1],
        one.status === 204 ? undefined : `${one.length}`,
      );
    }
  }
  await until('all have left', () => (listener.crowd.size === 0 ? true : null));
});

test('(j) a stream is chunks, and nothing else', async (t, binary) => {
  const sinks: BodySink[] = [];
  let left = 0;
  const stream = (sink: BodySink) => {
    sinks.push(sink);
    return () => {
      left += 1;
    };
  };
  const handler = whenWhole((_head, _body, reply) => reply.send(answer('', { stream })));
  const listener = await startUws(t, binary, handler);
  for (const fields of [[], [CLOSE]]) {
    sinks.length = 0;
    const heard = exchange(open(t, listener.port), say('', ...fields));
    const sink = await until('it has begun', () => sinks[0] ?? null);
    sink.write('one');
    await sleep(5);
    sink.write('');
    sink.write('zwölf');
    sink.end();
    sink.write('late');
    const [head = '', ...body] = (await heard).split('\r\n\r\n');
    t.equal(
      Buffer.from(body.join('\r\n\r\n'), 'latin1').toString(),
      '3\r\none\r\n6\r\nzwölf\r\n0\r\n\r\n',
    );
    t.match(head, /^Transfer-Encoding: chunked$/m);
    t.equal(head.match(/^Connection: close$/gm)?.length, 1);
  }
  t.equal(left, 2);
});

test('(j) a stream to a slow reader goes on, and its unsent bytes are known', async (t, binary) => {
  let sink: BodySink | null = null;
  const stream = (begun: BodySink) => {
    sink = begun;
    return () => undefined;
  };
  const handler = whenWhole((_head, _body, reply) => reply.send(answer('', { stream })));
  const listener = await startUws(t, binary, handler);
  const socket = open(t, listener.port);
  const heard: string[] = [];
  socket.on('data', (text: string) => heard.push(text));
  socket.write(say(''));
  const begun = await until('it has begun', () => sink);
  let written = '';
  const write = (piece: string): void => {
    written += piece;
    begun.write(piece);
  };
  const writeUntilUnsent = async (): Promise<void> => {
    for (let time = 0; listener.crowd.unsentBytes < 100_000; time += 1) {
      write(`${time} ${'x'.repeat(50_000)}\n`);
      if (time % 20 === 19) await sleep(1);
    }
  };
  for (let round = 0; round < 3; round += 1) {
    socket.pause();
    await writeUntilUnsent();
    socket.resume();
    await until('all is sent, without a further piece', () =>
      listener.crowd.unsentBytes === 0 ? true : null,
    );
    write('one more\n');
  }
  begun.end();
  await once(socket, 'close');
  const [, ...chunks] = heard.join('').split('\r\n\r\n');
  const body = new ChunkedBody().read(Buffer.from(chunks.join('\r\n\r\n'), 'latin1'));
  t.match(body, { isOver: true });
  t.ok('data' in body && `${body.data}` === written, 'the body is whole');
});

test('(j) a stream whose caller never reads is closed', async (t, binary) => {
  let left = false;
  const stream = (sink: BodySink) => {
    const timer = setInterval(() => sink.write('x'.repeat(60_000)), 1);
    return () => {
      left = true;
      clearInterval(timer);
    };
  };
  const handler = whenWhole((_head, _body, reply) => reply.send(answer('', { stream })));
  const listener = await startUws(t, binary, handler);
  open(t, listener.port).pause().write(say(''));
  await until('it is closed', () => (left && listener.crowd.size === 0 ? true : null));
  t.equal(listener.crowd.unsentBytes, 0);
});

test('(k) status and fields are written as they are, and cleaned', async (t, binary) => {
  const handler = whenWhole((_head, _body, reply) =>
    reply.send(
      answer('', {
        status: 418,
        writeFields(write) {
          write('X-A', 'a\r\nX-B: c');
          write('X-L', 'é\u010d');
        },
      }),
    ),
  );
  const listener = await startUws(t, binary, handler);
  const heard = await ask(open(t, listener.port), say(''));
  t.match(heard, /^HTTP\/1\.1 418 I'm a Teapot\r\nX-A: a\?\?X-B: c\r\nX-L: \xe9\?\r\n/);
  t.match(heard, /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
  t.notMatch(heard, /uwebsockets/i);
});

test('(l) pieces of a body stay as they were', async (t, binary) => {
  const listener = await startUws(t, binary, echo);
  const socket = open(t, listener.port);
  const whole = Array.from({ length: 100_000 }, (_, index) => `${index},`).join('');
  const [head = '', body = ''] = say(whole, CLOSE).split(/(?<=\r\n\r\n)/);
  socket.write(head);
  for (let at = 0; at < body.length; at += 10_000) {
    socket.write(body.slice(at, at + 10_000));
    await sleep(1);
  }
  const heard = await exchange(socket, '');
  t.equal(heard.slice(heard.indexOf('\r\n\r\n') + 4), whole);
});

test('(m) a connection is not closed while its chunks are read', async (t, binary) => {
  const handler: RequestHandler = {
    begin({ path }, reply): Receiver {
      // It fills the memory in which uWebSockets.js collects answers.
      if (path === '/first') reply.send(answer('x'.repeat(20_000)));
      return {
        data: () => reply.send(answer('x'.repeat(path === '/large' ? 20_000_000 : 100))),
        abort: () => undefined,
      };
    },
    refuse,
  };
  const listener = await startUws(t, binary, handler, { unsentBytesMax: 1_000_000 });
  const chunks = `${'2\r\nab\r\n'.repeat(2_000)}0\r\n\r\n`;
  const post = (path: string, ...fields: readonly string[]): string =>
    [`POST ${path} HTTP/1.1`, 'Host: a', 'Transfer-Encoding: chunked', ...fields, '', chunks].join(
      '\r\n',
    );
  for (let time = 0; time < 20; time += 1) {
    const cutOff = open(t, listener.port).pause();
    cutOff.write(post('/large'));
    await until('it has too many unsent bytes', () => (listener.crowd.cutOff > time ? true : null));
    const last = open(t, listener.port);
    const heard = await exchange(
      last,
      `GET /first HTTP/1.1\r\nHost: a\r\n\r\n${post('/last', CLOSE)}`,
    );
    if (binary.hasPorts) t.equal(heard.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
    await until('both have left', () => (listener.crowd.size === 0 ? true : null));
  }
});
