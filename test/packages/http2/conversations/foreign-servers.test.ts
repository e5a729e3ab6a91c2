/**
 * Our client and HTTP/2 servers that we did not write: nghttpd, h2o, nginx, node:http2; over TLS
 * and in clear text.
 */

import { strict as assert } from 'node:assert';
import t from 'tap';
import { getOf, openClient, postOf } from '../../../support/http2-client.ts';
import {
  answered,
  bodyOf,
  countsOf,
  demand,
  isSmallFile,
  times,
} from '../../../support/http2-servers/ask.ts';
import { onEachHttp2Server } from '../../../support/http2-servers/each-server.ts';
import { NGHTTPD_TRAILER } from '../../../support/http2-servers/nghttpd.ts';
import {
  ECHO_PATH,
  LARGE_BODY,
  LARGE_PATH,
  SMALL_BODY,
  SMALL_PATH,
} from '../../../support/http2-servers/site.ts';

t.test('files, uploads and refusals, with TLS and without', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }, name) => {
    for (const from of [origin, cleartextOrigin]) {
      const client = await openClient(t, from, { ca });
      const small = answered(await client.ask(client.prepare(getOf(from, SMALL_PATH))));
      t.match({ ...small, body: small.body.toString() }, { status: 200, body: SMALL_BODY });
      const large = answered(await client.ask(client.prepare(getOf(from, LARGE_PATH))));
      t.ok(large.body.equals(LARGE_BODY), 'all of the large file');
      t.equal(large.isTruncated, false);
      const [trailerName, trailerValue] = NGHTTPD_TRAILER;
      const trailers = name === 'nghttpd' ? [{ name: trailerName, value: trailerValue }] : [];
      t.match(large.trailers, trailers);
      const echo = answered(await client.ask(client.prepare(postOf(from, ECHO_PATH, LARGE_BODY))));
      t.ok(echo.body.equals(LARGE_BODY), 'all that was posted');
      t.match(await client.ask(client.prepare(getOf(from, '/nothing'))), { status: 404 });
      // Most of them answer before they have read it all, and reset the rest.
      const refused = postOf(from, '/nothing', LARGE_BODY);
      const { status } = await client.ask(client.prepare(refused));
      // nghttpd echoes whatever is posted.
      t.equal(status, name === 'nghttpd' ? 200 : 404, 'an upload to nowhere');
      t.match(await client.ask(client.prepare(getOf(from, SMALL_PATH))), { status: 200 });
      t.equal(client.drainingReason(), null);
    }
  });
});

t.test('a body longer than wanted is cut, and the connection goes on', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, ca }, name) => {
    const client = await openClient(t, origin, { ca, bodyOctetsMax: 1_000 });
    const request = client.prepare(getOf(origin, LARGE_PATH));
    // node:http2 counts up to 10 MB for each connection, of cancelled bodies too, then it refuses.
    const rounds = name === 'node:http2' ? 8 : 30;
    for (let round = 1; round <= rounds; round += 1) {
      const { body, isTruncated } = answered(await client.ask(request));
      assert(isTruncated && body.equals(LARGE_BODY.subarray(0, 1_000)));
    }
    const small = answered(await client.ask(client.prepare(getOf(origin, SMALL_PATH))));
    t.same([small.body.toString(), small.isTruncated], [SMALL_BODY, false]);
    t.equal(client.drainingReason(), null);
  });
});

t.test('hundreds of requests at once keep to the limit of streams', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }, name) => {
    for (const from of [origin, cleartextOrigin]) {
      const client = await openClient(t, from, { ca });
      if (name === 'node:http2') await demand(client, from, { maxConcurrentStreams: 250 });
      const limit = client.connection.capacity;
      const request = client.prepare(getOf(from, `${SMALL_PATH}?`));
      const answers = await times(800, (index) => client.ask(request, String(index)));
      t.ok(answers.every(isSmallFile), 'all were answered');
      t.equal(client.streamsAtOnce(), Math.min(limit, 800), `${limit} streams`);
      if (name !== 'node:http2') continue;
      const { streamsAtOnce } = await countsOf(client, from);
      t.ok(streamsAtOnce <= 250, `${streamsAtOnce} at once, the server counts`);
    }
  });
});

t.test('values of any length and script, in the content', async (t) => {
  const signs = ['x', 'ü', '\n', '€', '🦩', '"', '0123456789'];
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }) => {
    for (const from of [origin, cleartextOrigin]) {
      const client = await openClient(t, from, { ca });
      const request = client.prepare(postOf(from, ECHO_PATH, '{"token":"', '","größe":1}'));
      const textOf = (index: number): string =>
        (signs[index % signs.length] ?? '').repeat((index * 37) % 9_000);
      const answers = await times(150, (index) => client.ask(request, textOf(index)));
      answers.forEach((answer, index) => {
        assert.equal(bodyOf(answer), `{"token":"${textOf(index)}","größe":1}`);
      });
      t.pass('each came back as it was sent');
    }
  });
});

/**
 * One frame, two (more with Huffman code), and from there on what servers may refuse in the way
 * they like.
 */
const FIELD_OCTETS = [5_000, 16_500, 40_000, 70_000, 300_000];
const SOME_END = /^(200|400|413|431|no answer in time|connection closed.*|GOAWAY .*|[A-Z_]+)$/;

t.test('field sections of any length come to a defined end', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, cleartextOrigin, ca }) => {
    for (const from of [origin, cleartextOrigin]) {
      await times(FIELD_OCTETS.length, async (index) => {
        const octets = FIELD_OCTETS[index] ?? 0;
        // node:http2 says GOAWAY and then neither answers nor closes; the others end it themselves.
        const client = await openClient(t, from, { ca, requestTimeoutMs: 1_000 });
        // These characters have no short code.
        const field = { name: 'x-long', value: '{~}|'.repeat(octets / 4) };
        const form = getOf(from, SMALL_PATH, [{ ...field, indexing: 'without' }]);
        const answer = await client.ask(client.prepare(form));
        const end = answer.kind === 'failed' ? answer.reason : String(answer.status);
        t.match(end, SOME_END, `${octets} octets: ${end}`);
        if (octets === FIELD_OCTETS[0]) t.equal(end, '200');
      });
    }
  });
});

t.test('paths that change their length keep within a frame, or are continued', async (t) => {
  await onEachHttp2Server(t, async (t, { origin, ca }) => {
    const client = await openClient(t, origin, { ca });
    const request = client.prepare(getOf(origin, `${SMALL_PATH}?`));
    for (const length of [1, 100, 115, 116, 200, 4_000, 250, 300, 2, 7_000]) {
      const answer = await client.ask(request, '~'.repeat(length));
      t.match(answer, { status: 200 }, `${length} octets`);
    }
    // Compiled for 300 octets, and its length as a number takes as many octets as that of 16,400.
    await client.ask(request, '~'.repeat(300));
    const long = await client.ask(request, '~'.repeat(16_400));
    t.comment(long.kind === 'answered' ? long.status : long.reason);
    t.notMatch(client.drainingReason() ?? '', /FRAME_SIZE_ERROR/);
  });
});
