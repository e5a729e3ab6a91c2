/**
 * The listener: clients that speak HTTP/2 are let in, and no others, closing leaves nothing open,
 * and clients that we did not write are served.
 */

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { connect } from 'node:tls';
import type { Test } from 'tap';
import t from 'tap';
import { listen } from '../../../../packages/http2/src/server/listen.ts';
import type { ServerOptions } from '../../../../packages/http2/src/server/server-connection.ts';
import { ServerConnection } from '../../../../packages/http2/src/server/server-connection.ts';
import { createCertificate } from '../../../../packages/simulator/src/server/certificate.ts';
import { skipsForbidden } from '../../../support/environment.ts';
import { LARGE_BODY, SMALL_BODY } from '../../../support/http2-servers/site.ts';
import { findProgram, runProgram } from '../../../support/programs.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

/** Resolves when the server has ended it, with or without an alert. */
const closed = (socket: TLSSocket): Promise<void> =>
  new Promise((resolve) => {
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume();
  });

t.test('only h2 is let in', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  let connections = 0;
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...certificate,
    onConnection: () => {
      connections += 1;
    },
  });
  const options = { host: '127.0.0.1', port: listener.port, ca: certificate.certificatePem };
  const good = connect({ ...options, ALPNProtocols: ['h2'] });
  await once(good, 'secureConnect');
  t.equal(good.alpnProtocol, 'h2');
  await closed(connect(options));
  await closed(connect({ ...options, ALPNProtocols: ['http/1.1'] }));
  t.equal(connections, 1);
  const gone = closed(good);
  await listener.close();
  await gone;
});

t.test('a handshake can wait, or be refused', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  let afterMs: number | null = null;
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...certificate,
    handshakeAfterMs: () => afterMs,
    onConnection: () => undefined,
  });
  t.teardown(() => listener.close());
  const dial = () =>
    connect({
      host: '127.0.0.1',
      port: listener.port,
      ca: certificate.certificatePem,
      ALPNProtocols: ['h2'],
    });
  const refused = dial();
  let isSecure = false;
  refused.on('secureConnect', () => {
    isSecure = true;
  });
  await closed(refused);
  t.notOk(isSecure);
  afterMs = 100;
  const startedMs = performance.now();
  const waiting = dial();
  // One that goes while it waits does no harm.
  dial().destroy();
  await once(waiting, 'secureConnect');
  t.ok(performance.now() - startedMs >= 95, 'a lower bound only');
  waiting.destroy();
});

t.test('a port that is taken is an error', async (t) => {
  const certificate = await createCertificate('127.0.0.1');
  const options = { host: '127.0.0.1', ...certificate, onConnection: () => undefined };
  const first = await listen({ ...options, port: 0 });
  await t.rejects(listen({ ...options, port: first.port }), { code: 'EADDRINUSE' });
  await first.close();
});

t.test('nghttp is served: uploads, padding, CONTINUATION, trailers, small windows', async (t) => {
  const nghttp = programFor(t, 'nghttp');
  if (nghttp === null) return;
  const { origin, largeFile, requests } = await serve(t);
  const small = await runProgram(t, nghttp, ['--no-verify-peer', `${origin}/small`]);
  t.same([small.code, small.out.toString(), small.err], [0, SMALL_BODY, '']);
  const upload = ['--no-verify-peer', '--no-dep', `--data=${largeFile}`, `${origin}/echo`];
  for (const flags of [
    [],
    ['--padding=200'],
    ['--continuation', '--header=x-long: y'],
    ['--trailer=x-end: here'],
    ['--window-bits=10', '--connection-window-bits=12'],
    ['--header-table-size=0', '--encoder-header-table-size=0'],
  ]) {
    const { code, out, err } = await runProgram(t, nghttp, [...flags, ...upload]);
    t.same([code, err], [0, ''], flags.join(' '));
    t.ok(out.equals(LARGE_BODY), 'all that was posted came back');
  }
  // Their octets come mixed.
  const many = await runProgram(t, nghttp, ['--multiply=50', ...upload]);
  t.same([many.code, many.out.length], [0, 50 * LARGE_BODY.length], 'fifty at once');
  t.equal(requests(), 57);
});

t.test('h2load is served', async (t) => {
  const h2load = programFor(t, 'h2load');
  if (h2load === null) return;
  for (const options of [{}, { endsApart: true }]) {
    const { origin, requests } = await serve(t, options);
    const load = ['-n', '5000', '-c', '4', '-m', '50'];
    const { code, out } = await runProgram(t, h2load, [...load, `${origin}/small`]);
    t.equal(code, 0);
    t.match(out.toString(), '5000 succeeded, 0 failed, 0 errored, 0 timeout');
    t.match(out.toString(), '5000 2xx, 0 3xx, 0 4xx, 0 5xx');
    t.equal(requests(), 5_000);
  }
});

t.test('curl is served', async (t) => {
  const curl = findProgram('curl');
  // Unlike the others CI does not install it.
  if (curl === null) return t.comment('curl is not installed');
  const { origin, certificateFile, largeFile } = await serve(t);
  const flags = ['--silent', '--show-error', '--http2', '--cacert', certificateFile];
  const small = await runProgram(t, curl, [...flags, '--include', `${origin}/small`]);
  t.match(small.out.toString(), /^HTTP\/2 200[\s\S]*\r\n\r\nsmall\n$/);
  const upload = ['--data-binary', `@${largeFile}`, `${origin}/echo`];
  t.ok((await runProgram(t, curl, [...flags, ...upload])).out.equals(LARGE_BODY));
});

/** The path of a program; null when it is not installed, which CI does not allow. */
function programFor(t: Test, name: string): string | null {
  const program = findProgram(name);
  if (program !== null) return program;
  if (skipsForbidden) t.fail(`${name} is not installed`);
  else t.comment(`${name} is not installed`);
  return null;
}

/** A server of a small file, and of an echo, for the life of a test. */
async function serve(t: Test, options: Partial<ServerOptions> = {}) {
  const certificate = await createCertificate('127.0.0.1');
  const directory = temporaryDirectory(t, { 'ca.pem': certificate.certificatePem });
  const largeFile = join(directory, 'large.bin');
  writeFileSync(largeFile, LARGE_BODY);
  let requests = 0;
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...certificate,
    onConnection: (socket) => {
      const server = new ServerConnection(
        socket,
        { streamsMax: 100, bodyOctetsMax: LARGE_BODY.length, endsApart: false, ...options },
        {
          opened: () => {
            requests += 1;
          },
          requested: (streamId, { path }, body) => {
            const answer = path === '/echo' ? Buffer.from(body) : Buffer.from(SMALL_BODY);
            server.respond(streamId, { status: 200, fields: [], body: answer });
          },
          closed: () => undefined,
        },
      );
    },
  });
  t.teardown(() => listener.close());
  return {
    origin: `https://127.0.0.1:${listener.port}`,
    certificateFile: join(directory, 'ca.pem'),
    largeFile,
    requests: () => requests,
  };
}
