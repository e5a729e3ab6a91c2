/**
 * The command as a process: what it prints, how it ends, and that no server, however broken, keeps
 * it.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import { CLIENT_PREFACE } from '../../packages/http2/src/connection/connection.ts';
import { ErrorCode } from '../../packages/http2/src/error.ts';
import { goAwayFrame } from '../../packages/http2/src/frame/go-away.ts';
import {
  Flag,
  FRAME_HEAD_OCTETS,
  FrameType,
  writeFrameHead,
} from '../../packages/http2/src/frame/head.ts';
import { Setting, settingsFrame } from '../../packages/http2/src/frame/settings.ts';
import { createCertificate } from '../../packages/simulator/src/server/certificate.ts';
import { fetchCommand } from '../../src/cli/fetch.ts';
import { closeWith } from '../support/close-with.ts';
import { startNodeServer } from '../support/http2-servers/node-server.ts';
import { ECHO_PATH, LARGE_BODY, LARGE_PATH, SMALL_PATH } from '../support/http2-servers/site.ts';
import type { Ran } from '../support/programs.ts';
import { freePorts, runProgram } from '../support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Each has five seconds to connect: more at once starve each other. */
const PROCESSES = 4;

t.test('it prints the status and exactly the body', async (t) => {
  const { origin, cleartextOrigin, ca } = await startNodeServer(t);
  const caFile = join(temporaryDirectory(t, { 'ca.pem': ca }), 'ca.pem');
  for (const args of [
    ['--ca-file', caFile, `${origin}`],
    ['--insecure', `${origin}`],
    [cleartextOrigin],
  ]) {
    const flags = args.slice(0, -1);
    const from = args.at(-1);
    const small = await run(t, ...flags, `${from}${SMALL_PATH}`);
    t.same(printed(small), [0, '200\n\nsmall\n', ''], args.join(' '));
    const large = await run(t, ...flags, `${from}${LARGE_PATH}`);
    t.equal(large.code, 0);
    t.ok(large.out.equals(Buffer.concat([Buffer.from('200\n\n'), LARGE_BODY])), 'a large body');
    const echo = await run(t, ...flags, '--data', 'grüß dich', `${from}${ECHO_PATH}`);
    t.same(printed(echo), [0, '200\n\ngrüß dich', '']);
    const missing = await run(t, ...flags, `${from}/nothing`);
    t.same(printed(missing), [0, '404\n\n', ''], 'an answer is an answer');
  }
});

t.test('the request is what was asked for, and octets are not text', async (t) => {
  const allOctets = Buffer.from(Array.from({ length: 256 }, (_, octet) => octet));
  const { origin, requests } = await serveAnything(t, allOctets);
  const first = await run(
    t,
    `${origin}/a%20b?c=d&e#f`,
    '--header',
    'X-One: 1',
    '--header',
    'x-two:',
  );
  t.ok(first.out.equals(Buffer.concat([Buffer.from('200\n\n'), allOctets])), 'binary');
  await run(t, '--data', '', '--header', 'content-type: text/plain', origin);
  const host = new URL(origin).host;
  t.match(requests, [
    { ':method': 'GET', ':path': '/a%20b?c=d&e', ':authority': host, 'x-one': '1', 'x-two': '' },
    { ':method': 'POST', ':path': '/', ':scheme': 'http', 'content-type': 'text/plain' },
  ]);
});

t.test('nobody to talk to, or not like this', async (t) => {
  const [port] = await freePorts(1);
  t.match(await run(t, `http://127.0.0.1:${port}`), failure(/ECONNREFUSED/));
  t.match(await run(t, `https://127.0.0.1:${port}`), failure(/ECONNREFUSED/));
  const { origin } = await startNodeServer(t);
  t.match(await run(t, origin), failure(/DEPTH_ZERO_SELF_SIGNED_CERT/));
  t.match(await run(t, '--ca-file', '/nowhere/ca.pem', origin), {
    code: 2,
    err: /^--ca-file: cannot read \/nowhere\/ca\.pem$/m,
  });
  t.match(await run(t, origin.replace('https', 'http')), failure(/closed|ECONNRESET|ERROR/));

  const { certificatePem, privateKeyPem } = await createCertificate('127.0.0.1');
  const tls = { cert: certificatePem, key: privateKeyPem };
  for (const [options, reason] of [
    [{}, /does not speak HTTP\/2/],
    [{ ALPNProtocols: ['http/1.1'] }, /NO_APPLICATION_PROTOCOL/],
  ] as const) {
    const server = createTlsServer({ ...tls, ...options });
    const [, older] = await listen(t, server);
    t.match(await run(t, '--insecure', `https://127.0.0.1:${older}`), failure(reason));
  }
});

/** `:status: 200`, entry 8 of the static table. */
const STATUS_200 = Buffer.from([0x88]);
/** `content-length: 9` as a literal. */
const LENGTH_9 = Buffer.from([0x0f, 0x0d, 0x01, 0x39]);
const PARTIAL = Buffer.from('partial');
const { DATA, HEADERS, RST_STREAM, PUSH_PROMISE, SETTINGS, CONTINUATION } = FrameType;
const { END_HEADERS, END_STREAM, NONE } = Flag;

/**
 * Faults of servers with the request in hand: a name, their octets, and the reason that the command
 * gives.
 */
const BROKEN: readonly (readonly [name: string, octets: Buffer, reason: RegExp])[] = [
  ['a frame larger than allowed', frame(DATA, NONE, 1, Buffer.alloc(16_385)), /FRAME_SIZE_ERROR/],
  ['bad HPACK', frame(HEADERS, END_HEADERS, 1, Buffer.from([0xff, 0xff])), /COMPRESSION_ERROR/],
  ['an index beyond the tables', frame(HEADERS, END_HEADERS, 1, [0xfe]), /COMPRESSION_ERROR/],
  ['no :status', frame(HEADERS, END_HEADERS | END_STREAM, 1, LENGTH_9), /PROTOCOL_ERROR.*:status/],
  ['DATA on stream 0', frame(DATA, NONE, 0, PARTIAL), /PROTOCOL_ERROR/],
  ['DATA before HEADERS', frame(DATA, END_STREAM, 1, PARTIAL), /PROTOCOL_ERROR/],
  ['DATA on an idle stream', frame(DATA, NONE, 3, PARTIAL), /PROTOCOL_ERROR/],
  ['HEADERS on an idle stream', frame(HEADERS, END_HEADERS, 2, STATUS_200), /PROTOCOL_ERROR/],
  ['CONTINUATION of nothing', frame(CONTINUATION, END_HEADERS, 1, STATUS_200), /PROTOCOL_ERROR/],
  [
    'a frame inside of a field block',
    Buffer.concat([frame(HEADERS, NONE, 1, STATUS_200), frame(DATA, END_STREAM, 1, PARTIAL)]),
    /PROTOCOL_ERROR/,
  ],
  ['PUSH_PROMISE', frame(PUSH_PROMISE, END_HEADERS, 1, [0, 0, 0, 2, 0x88]), /PROTOCOL_ERROR/],
  ['half a setting', frame(SETTINGS, NONE, 0, [0, 1, 0]), /FRAME_SIZE_ERROR/],
  ['RST_STREAM', frame(RST_STREAM, NONE, 1, [0, 0, 0, 2]), /INTERNAL_ERROR/],
  ['a refused stream', frame(RST_STREAM, NONE, 1, [0, 0, 0, 7]), /REFUSED_STREAM/],
  [
    'GOAWAY for the request',
    goAwayFrame({
      lastStreamId: 0,
      code: ErrorCode.ENHANCE_YOUR_CALM,
      debugData: Buffer.from('later'),
    }),
    /GOAWAY ENHANCE_YOUR_CALM later/,
  ],
  [
    'GOAWAY whose text would rule the terminal',
    goAwayFrame({
      lastStreamId: 0,
      code: ErrorCode.ENHANCE_YOUR_CALM,
      debugData: Buffer.from('\x1b[2Jall is\r\nwell'),
    }),
    /: GOAWAY ENHANCE_YOUR_CALM \ufffd\[2Jall is\ufffd\ufffdwell\n$/,
  ],
  [
    'more than content-length says, and no end',
    Buffer.concat([
      frame(HEADERS, END_HEADERS, 1, Buffer.concat([STATUS_200, LENGTH_9])),
      frame(DATA, NONE, 1, PARTIAL),
      frame(DATA, NONE, 1, PARTIAL),
    ]),
    /PROTOCOL_ERROR.*longer than content-length/,
  ],
  [
    'GOAWAY with an error, and then nothing',
    goAwayFrame({ lastStreamId: 1, code: ErrorCode.PROTOCOL_ERROR, debugData: Buffer.alloc(0) }),
    /: GOAWAY PROTOCOL_ERROR\n/,
  ],
  [
    'less than content-length says',
    Buffer.concat([
      frame(HEADERS, END_HEADERS, 1, Buffer.concat([STATUS_200, LENGTH_9])),
      frame(DATA, END_STREAM, 1, PARTIAL),
    ]),
    /PROTOCOL_ERROR.*content-length/,
  ],
  [
    'no content where content-length says 9',
    frame(HEADERS, END_HEADERS | END_STREAM, 1, Buffer.concat([STATUS_200, LENGTH_9])),
    /PROTOCOL_ERROR.*content-length/,
  ],
];

t.test('a server that breaks the protocol', async (t) => {
  for (let from = 0; from < BROKEN.length; from += PROCESSES) {
    await Promise.all(
      BROKEN.slice(from, from + PROCESSES).map(async ([name, octets, reason]) => {
        const origin = await serveRaw(t, (socket) => {
          socket.write(octets);
        });
        t.match(await run(t, origin), failure(reason), name);
      }),
    );
  }
});

t.test('a server that never frees a stream, or says goodbye before it closes', async (t) => {
  const server = createServer((socket) => {
    socket.on('error', ignore).resume();
    socket.write(settingsFrame([[Setting.MAX_CONCURRENT_STREAMS, 0]]));
    setTimeout(() => {
      socket.write(goAwayFrame({ lastStreamId: 0, code: 0, debugData: Buffer.from('bye') }));
    }, 100);
  });
  const [, port] = await listen(t, server);
  t.match(await run(t, `http://127.0.0.1:${port}`), failure(/: GOAWAY NO_ERROR bye\n/));

  const origin = await serveRaw(t, (socket) => {
    const code = ErrorCode.INTERNAL_ERROR;
    socket.end(goAwayFrame({ lastStreamId: 1, code, debugData: Buffer.alloc(0) }));
  });
  t.match(
    await run(t, origin),
    failure(/: connection closed by the peer, after GOAWAY INTERNAL_ERROR\n/),
  );
});

t.test('a server that closes too early', async (t) => {
  const body = [frame(HEADERS, END_HEADERS, 1, STATUS_200), frame(DATA, NONE, 1, PARTIAL)];
  const beginnings = [Buffer.alloc(0), Buffer.concat(body), Buffer.from([0, 0, 9, 1])];
  await Promise.all(
    beginnings.map(async (before) => {
      const ended = await serveRaw(t, (socket) => {
        socket.end(before);
      });
      const reset = await serveRaw(t, (socket) => {
        socket.write(before, () => socket.resetAndDestroy());
      });
      t.match(await run(t, ended), failure(/closed by the peer/), `${before.length} octets`);
      t.match(await run(t, reset), failure(/closed by the peer|ECONNRESET/));
    }),
  );
  const first = createServer((socket) => {
    socket.on('error', ignore).write('HTTP/1.1 400 Bad Request\r\n\r\n');
  });
  const [, port] = await listen(t, first);
  t.match(
    await run(t, `http://127.0.0.1:${port}`),
    failure(/_ERROR/),
    'a first frame that is none',
  );
});

t.test('a reader that goes away is a failure without a stack trace', async (t) => {
  const { cleartextOrigin } = await startNodeServer(t);
  const script = scriptFor([`${cleartextOrigin}${LARGE_PATH}`]);
  const child = spawn(process.execPath, script, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => child.kill());
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  child.stdout.destroy();
  const [code] = await once(child, 'close');
  t.equal(code, 1);
  t.match(err, /^tagcast fetch: standard output: .*EPIPE.*\n$/);
});

t.test('wrong arguments get one sentence and the code 2', async (t) => {
  for (const [args, sentence] of [
    [[], /<url> is missing/],
    [['http://localhost', 'http://localhost'], /unexpected argument/],
    [['localhost'], /URL is needed/],
    [['ftp://localhost/'], /URL is needed/],
    [['--bogus', 'http://localhost'], /--bogus/],
    [['--data'], /--data/],
    [['--header', 'no colon', 'http://localhost'], /no colon.*not a valid header field/],
    [['--header', ':path: /', 'http://localhost'], /:path.*not a valid header field/],
    [['--header', 'x: €', 'http://localhost'], /not a valid header field/],
  ] as const) {
    const written = t.capture(process.stderr, 'write');
    const code = await fetchCommand.run(args);
    const [text = '', ...more] = written().map((call) => String(call.args[0]));
    written.restore();
    t.same([code, more, text.trim().split('\n').length], [2, [], 1], `${args}: ${text}`);
    t.match(text, sentence);
  }
});

t.test('help lists every flag', async (t) => {
  const { code, out } = await run(t, '--help');
  t.equal(code, 0);
  for (const flag of ['data', 'header', 'ca-file', 'insecure', 'help']) {
    t.match(out.toString(), `--${flag} `);
  }
});

/** Runs the command as main.ts does: its module, the arguments, the exit code. */
const run = (t: Test, ...args: readonly string[]): Promise<Ran> =>
  runProgram(t, process.execPath, scriptFor(args));

function scriptFor(args: readonly string[]): readonly string[] {
  const command = new URL('../../src/cli/fetch.js', import.meta.url).href;
  const script = `const { fetchCommand } = await import('${command}');
    process.exitCode = await fetchCommand.run(${JSON.stringify(args)});`;
  return ['--input-type=module', '--eval', script];
}

const printed = ({ code, out, err }: Ran) => [code, out.toString(), err];

const failure = (reason: RegExp) => ({ code: 1, out: { length: 0 }, err: reason });

/** Speaks enough HTTP/2 to be asked, and then does what the test says. */
async function serveRaw(t: Test, onRequest: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.write(settingsFrame([]));
    socket.on('error', ignore);
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      if (!holdsRequest(received)) return;
      socket.off('data', onData).resume();
      onRequest(socket);
    };
    socket.on('data', onData);
  });
  const [, port] = await listen(t, server);
  return `http://127.0.0.1:${port}`;
}

/** Whether HEADERS have come among the frames after the preface. */
function holdsRequest(received: Buffer): boolean {
  let at = CLIENT_PREFACE.length;
  while (at + FRAME_HEAD_OCTETS <= received.length) {
    if (received[at + 3] === HEADERS) return true;
    at += FRAME_HEAD_OCTETS + received.readUIntBE(at, 3);
  }
  return false;
}

/** Answers everything with the same body, and remembers what it was asked. */
async function serveAnything(t: Test, body: Buffer) {
  const requests: unknown[] = [];
  const server = createHttp2Server();
  server.on('stream', (stream, headers) => {
    requests.push(headers);
    stream.respond({ ':status': 200 });
    stream.end(body);
  });
  const [, port] = await listen(t, server);
  return { origin: `http://127.0.0.1:${port}`, requests };
}

async function listen(t: Test, server: ReturnType<typeof createServer>) {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closeWith(t, server);
  return [server, (server.address() as AddressInfo).port] as const;
}

function frame(type: number, flags: number, streamId: number, payload: Uint8Array | number[]) {
  const head = Buffer.alloc(FRAME_HEAD_OCTETS);
  writeFrameHead(head, 0, { length: payload.length, type, flags, streamId });
  return Buffer.concat([head, Buffer.from(payload)]);
}

function ignore(): void {
  // A broken server's broken socket.
}
