/** RFC 9113, 5.4.2, 6.4 and 8.7: RST_STREAM of either side, cancellation and time-outs. */

import { indexed, inserted } from '../../../support/http2/blocks.ts';
import { conversation } from '../../../support/http2/conversation.ts';
import {
  Code,
  data,
  END_HEADERS,
  END_STREAM,
  headers,
  headersOf,
  Id,
  rstStream,
} from '../../../support/http2/frames.ts';
import { GET, postOf } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;

for (const code of [0, 1, 2, 3, 5, 6, 8, 9, 11, 13, 14, 0xffff_ffff]) {
  conversation(
    `RST_STREAM: code ${code} is a generic error, never answered with RST`,
    async (scene) => {
      const { t, peer, client } = scene;
      await peer.greet();
      const sent = await client.request(GET);
      await peer.expectRequest();
      peer.send(rstStream(1, code));
      t.match(await sent.end, { kind: 'failed', isUnprocessed: false, status: null });
      await peer.expectQuiet();
    },
  );
}

conversation('RST_STREAM: REFUSED_STREAM is safe to retry', async ({ t, peer, client }) => {
  await peer.greet();
  const sent = await client.request();
  await peer.expectRequest();
  peer.send(rstStream(1, Code.REFUSED_STREAM));
  t.match(await sent.end, { kind: 'failed', isUnprocessed: true, reason: 'REFUSED_STREAM' });
  t.equal(client.connection.capacity, 100);
  await peer.expectQuiet();
});

conversation('RST_STREAM: NO_ERROR after a complete response does not void it', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 2]);
  const sent = await client.request(postOf(4));
  await peer.expectRequestHead();
  await peer.expect(data(1, 'xx'));
  peer.send(headers(1, OK), data(1, 'done', END_STREAM), rstStream(1, Code.NO_ERROR));
  t.match(await sent.end, { kind: 'answered', status: 200, body: 'done' });
  await peer.expect(rstStream(1, Code.CANCEL));
  await peer.expectQuiet();
});

conversation('RST_STREAM: NO_ERROR before the response is complete does void it', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request();
  await peer.expectRequest();
  peer.send(headers(1, OK), data(1, 'not all'), rstStream(1, Code.NO_ERROR));
  t.match(await sent.end, { kind: 'failed', status: 200, reason: 'NO_ERROR' });
});

conversation('RST_STREAM: what was still to be sent is not sent', async ({ t, peer, client }) => {
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 2]);
  const sent = await client.request(postOf(4));
  await peer.expectRequestHead();
  await peer.expect(data(1, 'xx'));
  peer.send(rstStream(1, Code.CANCEL));
  t.match(await sent.end, { kind: 'failed' });
  const next = await client.request(postOf(2));
  await peer.expectRequest();
  peer.send(headers(next.streamId, OK, END_STREAM));
  t.match(await next.end, { status: 200 });
});

conversation(
  'cancel: RST CANCEL, late frames ignored but HPACK and flow accounted',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request();
    await peer.expectRequest();
    peer.send(headers(1, OK), data(1, 'begun'));
    await peer.expectQuiet();
    client.cancel(sent);
    client.cancel(sent);
    await peer.expect(rstStream(1, Code.CANCEL));
    t.equal(client.connection.capacity, 100, 'the stream is free at once');
    peer.send(data(1, 'late'), headersOf(1, inserted('x-late', 'kept'), END_HEADERS | END_STREAM));
    const next = await client.request();
    await peer.expectRequest();
    const fields = Buffer.concat([indexed(8), indexed(62)]);
    peer.send(headersOf(next.streamId, fields, END_HEADERS | END_STREAM));
    t.match(await next.end, { fields: { 'x-late': 'kept' } });
  },
);

conversation('cancel: of a request that waits for a window', async ({ t, peer, client }) => {
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 0]);
  const sent = await client.request(postOf(4));
  await peer.expectRequestHead();
  client.cancel(sent);
  await peer.expect(rstStream(1, Code.CANCEL));
  await peer.expectQuiet();
  t.equal(client.connection.capacity, 100);
});

conversation('cancel: of a request that was just sent', async ({ peer, client }) => {
  await peer.greet();
  client.cancel(await client.request());
  await peer.expectRequest();
  await peer.expect(rstStream(1, Code.CANCEL));
  await peer.expectQuiet();
});

conversation('cancel: of others from inside of an end', async ({ t, peer, client }) => {
  await peer.greet();
  await client.until(() => client.connection.capacity > 0);
  const second = (): void => client.cancel(other);
  const first = client.sendNow(GET, 'a', second);
  const other = client.sendNow(GET, 'b');
  await peer.expectRequest();
  await peer.expectRequest();
  peer.send(headers(1, OK, END_STREAM), headers(3, OK, END_STREAM));
  t.match(await first.end, { status: 200 });
  await peer.expect(rstStream(3, Code.CANCEL));
  await peer.expectQuiet();
  t.equal(client.connection.capacity, 100);
});

conversation(
  'time-out: RST CANCEL, and the late answer is ignored but decoded',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request();
    await peer.expectRequest();
    t.match(await sent.end, { kind: 'failed', isUnprocessed: false, reason: 'no answer in time' });
    await peer.expect(rstStream(1, Code.CANCEL));
    const late = Buffer.concat([indexed(8), inserted('x-late', 'kept')]);
    peer.send(headersOf(1, late, END_HEADERS), data(1, 'late', END_STREAM));
    const next = await client.request(GET);
    await peer.expectRequest();
    const fields = Buffer.concat([indexed(8), indexed(62)]);
    peer.send(headersOf(next.streamId, fields, END_HEADERS | END_STREAM));
    t.match(await next.end, { fields: { 'x-late': 'kept' } });
  },
  { requestTimeoutMs: 40, pingsInARowMax: 0 },
);

conversation(
  'time-out: of many at once, with others cancelled from inside',
  async ({ t, peer, client }) => {
    await peer.greet();
    await client.until(() => client.connection.capacity > 0);
    const others: ReturnType<typeof client.sendNow>[] = [];
    const cancelOthers = (): void => {
      for (const other of others.splice(0)) client.cancel(other);
    };
    const first = client.sendNow(GET, 'a', cancelOthers);
    others.push(client.sendNow(GET, 'b'), client.sendNow(GET, 'c'));
    for (let i = 0; i < 3; i += 1) await peer.expectRequest();
    t.match(await first.end, { reason: 'no answer in time' });
    t.equal(client.connection.capacity, 100);
    const ids = new Set<number>();
    for (let i = 0; i < 3; i += 1) ids.add((await peer.next()).streamId);
    t.same([...ids].sort(), [1, 3, 5]);
    const next = [await client.request(GET), await client.request(GET), await client.request(GET)];
    for (const { streamId } of next) {
      await peer.expectRequest();
      peer.send(headers(streamId, OK, END_STREAM));
    }
    for (const { end } of next) t.match(await end, { status: 200 });
  },
  { requestTimeoutMs: 80, pingsInARowMax: 0 },
);

conversation(
  'endless body: truncated, and RST CANCEL',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request();
    await peer.expectRequest();
    peer.send(headers(1, OK), data(1, 'x'.repeat(60)), data(1, 'y'.repeat(60)));
    const body = 'x'.repeat(60) + 'y'.repeat(40);
    t.match(await sent.end, { kind: 'answered', status: 200, body, isTruncated: true });
    await peer.expect(rstStream(1, Code.CANCEL));
    peer.send(data(1, 'z'.repeat(60)), data(1, 'z', END_STREAM));
    await peer.expectQuiet();
  },
  { bodyOctetsMax: 100 },
);
