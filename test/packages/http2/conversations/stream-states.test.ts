/** RFC 9113, 5.1: identifiers and states of streams. */

import { conversation } from '../../../support/http2/conversation.ts';
import type { Octets } from '../../../support/http2/frames.ts';
import {
  Code,
  data,
  END_STREAM,
  headers,
  headersOf,
  Id,
  rstStream,
  settings,
  settingsAck,
  UINT31_MAX,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import { GET, postOf } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;

conversation('streams: ids are odd, increasing, sent in order', async ({ t, peer, client }) => {
  await peer.greet();
  for (const form of [GET, postOf(3), GET, postOf(3), postOf(20_000), GET]) {
    await client.request(form);
  }
  const ids = [];
  for (let i = 0; i < 6; i += 1) ids.push((await peer.expectRequest()).streamId);
  t.same(ids, [1, 3, 5, 7, 9, 11]);
});

conversation(
  'streams: at 2^31-1 the connection is retired, and what is under way goes on',
  async ({ t, peer, client }) => {
    await peer.greet();
    const first = await client.request(GET);
    const last = await client.request(GET);
    t.same([first.streamId, last.streamId], [UINT31_MAX - 2, UINT31_MAX]);
    t.equal(client.connection.capacity, 0);
    await client.until(() => client.events.length > 0);
    t.same(client.events, ['draining no stream identifiers left']);
    await peer.expectRequest();
    await peer.expectRequest();
    peer.send(headers(last.streamId, OK), data(last.streamId, 'x', END_STREAM));
    t.match(await last.end, { status: 200, body: 'x' });
    peer.send(headers(first.streamId, OK, END_STREAM));
    t.match(await first.end, { status: 200 });
    await peer.expectFarewell();
    t.equal(await client.closed(), 'closed drained');
  },
  { firstStreamId: UINT31_MAX - 2 },
);

const ON_IDLE: Readonly<Record<string, (streamId: number) => Octets>> = {
  DATA: (streamId) => data(streamId, 'x'),
  HEADERS: (streamId) => headers(streamId, OK),
  RST_STREAM: (streamId) => rstStream(streamId, Code.CANCEL),
  WINDOW_UPDATE: (streamId) => windowUpdate(streamId, 1),
  'WINDOW_UPDATE 0': (streamId) => windowUpdate(streamId, 0),
};
for (const [what, octets] of Object.entries(ON_IDLE)) {
  for (const streamId of [3, 2, UINT31_MAX]) {
    conversation(`streams: ${what} on idle stream ${streamId} is PROTOCOL_ERROR`, async (scene) => {
      const { peer, client } = scene;
      await peer.greet();
      await client.request(GET);
      await peer.expectRequest();
      peer.send(octets(streamId));
      await peer.expectGoAway(Code.PROTOCOL_ERROR);
    });
  }
}

const AFTER_END: Readonly<Record<string, Octets>> = {
  DATA: data(1, 'x'),
  'empty DATA with END_STREAM': data(1, '', END_STREAM),
  HEADERS: headers(1, [['trailer', 'late']], END_STREAM),
};
for (const [what, octets] of Object.entries(AFTER_END)) {
  conversation(`streams: ${what} after the peer's END_STREAM is STREAM_CLOSED`, async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headers(1, OK), data(1, 'all', END_STREAM), octets);
    await peer.expectGoAway(Code.STREAM_CLOSED);
    t.match(await sent.end, { status: 200, body: 'all' });
  });
}

conversation(
  'streams: RST_STREAM and WINDOW_UPDATE after END_STREAM are ignored',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headers(1, OK, END_STREAM), rstStream(1, Code.NO_ERROR), windowUpdate(1, 5));
    t.match(await sent.end, { status: 200 });
    peer.send(rstStream(1, Code.STREAM_CLOSED));
    await peer.expectQuiet();
  },
);

conversation('streams: frames on a stream that WE have reset are ignored', async (scene) => {
  const { peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  client.cancel(sent);
  await peer.expect(rstStream(1, Code.CANCEL));
  peer.send(headers(1, OK), data(1, 'late'), windowUpdate(1, 1), data(1, '', END_STREAM));
  peer.send(rstStream(1, Code.CANCEL), headers(1, [['a', 'b']], END_STREAM));
  await peer.expectQuiet();
});

conversation('streams: frames after the RST_STREAM of the peer are not answered', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(rstStream(1, Code.INTERNAL_ERROR), data(1, 'late'), rstStream(1, Code.CANCEL));
  t.match(await sent.end, { kind: 'failed', reason: 'INTERNAL_ERROR' });
  await peer.expectQuiet();
});

conversation(
  'streams: the answer is complete before the request is',
  async ({ t, peer, client }) => {
    await peer.greet([Id.INITIAL_WINDOW_SIZE, 4]);
    const sent = await client.request(postOf(10));
    await peer.expectRequestHead();
    await peer.expect(data(1, 'xxxx'));
    peer.send(headers(1, [[':status', '413']]), data(1, 'enough', END_STREAM));
    await peer.expect(rstStream(1, Code.CANCEL));
    t.match(await sent.end, { status: 413, body: 'enough' });
    peer.send(rstStream(1, Code.NO_ERROR), windowUpdate(1, 100));
    await peer.expectQuiet();
    const next = await client.request(postOf(2));
    await peer.expectRequest();
    peer.send(headers(next.streamId, OK, END_STREAM));
    t.match(await next.end, { status: 200 });
  },
);

conversation('streams: answers come in any order', async ({ t, peer, client }) => {
  await peer.greet();
  const sent = [];
  for (let i = 0; i < 5; i += 1) sent.push(await client.request(GET, `n${i}`));
  for (let i = 0; i < 5; i += 1) await peer.expectRequest();
  for (const { streamId } of sent) peer.send(headers(streamId, OK));
  for (const { streamId } of sent.toReversed()) {
    peer.send(data(streamId, `for ${streamId}`, END_STREAM));
  }
  for (const { streamId, end } of sent) t.match(await end, { body: `for ${streamId}` });
});

conversation(
  'streams: those of hundreds of requests before are found, and long closed ones',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const old = await client.request(GET);
    await peer.expectRequest();
    for (let i = 0; i < 600; i += 1) {
      const sent = await client.request(GET);
      const { streamId } = await peer.expectRequest();
      peer.send(headersOf(streamId, Buffer.from([0x88]), 0x5));
      t.match(await sent.end, { status: 200 });
    }
    peer.send(headers(old.streamId, OK, END_STREAM));
    t.match(await old.end, { status: 200 });
    // Stream 3 is forgotten: it is ignored, since it may be one that was reset.
    peer.send(data(3, 'x'), settings());
    await peer.expect(settingsAck);
  },
  { deliveries: 'whole' },
);
