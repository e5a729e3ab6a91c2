/**
 * The servers do what they say, asked by a client that is known to work: with it out of the
 * question, a failure is our own client's.
 */

import type { ClientHttp2Session, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2';
import { connect, constants } from 'node:http2';
import type { Test } from 'tap';
import t from 'tap';
import { onEachHttp2Server } from './each-server.ts';
import { NGHTTPD_TRAILER } from './nghttpd.ts';
import {
  GOAWAY_PATH,
  INFORMATIONAL_PATH,
  MANY_FIELDS,
  MANY_FIELDS_PATH,
  NO_CONTENT_PATH,
  REFUSED_PATH,
  RESET_PATH,
  startNodeServer,
  TRAILERS_PATH,
} from './node-server.ts';
import { ECHO_PATH, LARGE_BODY, LARGE_PATH, SMALL_BODY, SMALL_PATH } from './site.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly informational: readonly IncomingHttpHeaders[];
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly resetCode: number | undefined;
}

t.test('every server serves files and takes uploads, with TLS and without', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }, name) => {
    for (const authority of [origin, cleartextOrigin]) {
      const session = sessionFor(t, authority, ca);
      t.equal((await ask(session, SMALL_PATH)).body.toString(), SMALL_BODY);
      const large = await ask(session, LARGE_PATH);
      t.ok(large.body.equals(LARGE_BODY), 'all of the large file');
      if (name === 'nghttpd') t.match(large.trailers, Object.fromEntries([NGHTTPD_TRAILER]));
      const echo = await ask(session, ECHO_PATH, LARGE_BODY);
      t.equal(echo.status, 200);
      t.ok(echo.body.equals(LARGE_BODY), 'all that was posted');
      t.equal((await ask(session, '/nothing')).status, 404);
    }
  });
});

t.test('node:http2 has a path for each thing a server may do', async (t) => {
  const { origin, ca } = await startNodeServer(t);
  const session = sessionFor(t, origin, ca);

  t.match((await ask(session, TRAILERS_PATH)).trailers, { 'x-trailer': 'the end' });
  const informed = await ask(session, INFORMATIONAL_PATH);
  t.match(informed.informational, [{ ':status': 103, link: '</style>' }]);
  t.equal(informed.status, 200);
  const fields = await ask(session, MANY_FIELDS_PATH);
  const isOurs = (field: string): boolean => field.startsWith('x-field-');
  t.equal(Object.keys(fields.headers).filter(isOurs).length, MANY_FIELDS);
  t.equal((await ask(session, NO_CONTENT_PATH)).status, 204);
  const reset = await ask(session, RESET_PATH);
  t.match(reset, { status: 200, resetCode: constants.NGHTTP2_INTERNAL_ERROR });
  t.equal((await ask(session, REFUSED_PATH)).resetCode, constants.NGHTTP2_REFUSED_STREAM);

  const goaway = new Promise((resolve) => session.once('goaway', resolve));
  t.equal((await ask(session, GOAWAY_PATH)).body.toString(), SMALL_BODY);
  t.equal(await goaway, constants.NGHTTP2_NO_ERROR);
});

function sessionFor(t: Test, authority: string, ca: string): ClientHttp2Session {
  const session = connect(authority, { ca, maxHeaderListPairs: 2 * MANY_FIELDS });
  t.teardown(() => session.destroy());
  return session;
}

function ask(session: ClientHttp2Session, path: string, body?: Buffer): Promise<Answer> {
  const method = body === undefined ? 'GET' : 'POST';
  const stream = session.request({ ':method': method, ':path': path });
  let headers: IncomingHttpHeaders & IncomingHttpStatusHeader = {};
  let trailers: IncomingHttpHeaders = {};
  const informational: IncomingHttpHeaders[] = [];
  const chunks: Buffer[] = [];
  stream.on('headers', (fields) => informational.push(fields));
  stream.on('response', (fields) => {
    headers = fields;
  });
  stream.on('trailers', (fields) => {
    trailers = fields;
  });
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  // The code that 'close' finds says the same.
  stream.on('error', () => undefined);
  stream.end(body);
  return new Promise((resolve) => {
    stream.once('close', () =>
      resolve({
        status: headers[':status'],
        headers,
        informational,
        trailers,
        body: Buffer.concat(chunks),
        resetCode: stream.rstCode,
      }),
    );
  });
}
