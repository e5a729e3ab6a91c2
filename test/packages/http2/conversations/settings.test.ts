/** RFC 9113, 6.5: SETTINGS, both ways. */

import { SETTINGS_TIMEOUT_MS } from '../../../../packages/http2/src/connection/settings-exchange.ts';
import { passMs } from '../../../support/http2/clock.ts';
import { conversation } from '../../../support/http2/conversation.ts';
import type { Octets } from '../../../support/http2/frames.ts';
import {
  ACK,
  Code,
  data,
  END_STREAM,
  frame,
  headers,
  Id,
  octetsOf,
  pushPromise,
  settings,
  settingsAck,
  Type,
  UINT31_MAX,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import { GET, postOf } from '../../../support/http2/recorded-client.ts';

conversation('SETTINGS: each one is acknowledged, in order', async ({ peer }) => {
  await peer.expectPreface();
  peer.send(settings(), settings([Id.MAX_CONCURRENT_STREAMS, 3]), settings());
  for (let i = 0; i < 3; i += 1) await peer.expect(settingsAck);
});

conversation('SETTINGS: applied in order, the last of equal ones holds', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet([Id.MAX_CONCURRENT_STREAMS, 7], [Id.MAX_CONCURRENT_STREAMS, 2]);
  t.equal(client.connection.capacity, 2);
  peer.send(settings([Id.MAX_CONCURRENT_STREAMS, 1]), settings([Id.MAX_CONCURRENT_STREAMS, 5]));
  await peer.expect(settingsAck);
  await peer.expect(settingsAck);
  t.equal(client.connection.capacity, 5);
});

conversation(
  'SETTINGS: applied, then acknowledged, then made use of: the peer may hold us to the old ones before',
  async (scene) => {
    const { peer, client } = scene;
    await peer.greet([Id.INITIAL_WINDOW_SIZE, 0]);
    const { streamId } = await client.request(postOf(3));
    await peer.expectRequestHead();
    peer.send(settings([Id.INITIAL_WINDOW_SIZE, 3]));
    await peer.expect(settingsAck);
    await peer.expect(data(streamId, 'xxx', END_STREAM));
    peer.send(headers(streamId, [[':status', '200']], END_STREAM));
    await client.until(() => client.connection.capacity === 100);
  },
);

interface Wrong {
  readonly what: string;
  readonly octets: Octets;
  readonly code: number;
}
const WRONG: readonly Wrong[] = [
  {
    what: 'an ACK with payload is FRAME_SIZE_ERROR',
    octets: { ...settings([Id.MAX_CONCURRENT_STREAMS, 1]), flags: ACK },
    code: Code.FRAME_SIZE_ERROR,
  },
  {
    what: 'length % 6 != 0 is FRAME_SIZE_ERROR',
    octets: frame(Type.SETTINGS, 0, 0, Buffer.alloc(7)),
    code: Code.FRAME_SIZE_ERROR,
  },
  {
    what: 'stream != 0 is PROTOCOL_ERROR',
    octets: frame(Type.SETTINGS, 0, 1),
    code: Code.PROTOCOL_ERROR,
  },
  {
    what: 'an ACK on a stream is PROTOCOL_ERROR',
    octets: frame(Type.SETTINGS, ACK, 1),
    code: Code.PROTOCOL_ERROR,
  },
  {
    what: 'an ACK for nothing is PROTOCOL_ERROR',
    octets: settingsAck,
    code: Code.PROTOCOL_ERROR,
  },
  {
    what: 'server ENABLE_PUSH 1 is PROTOCOL_ERROR',
    octets: settings([Id.ENABLE_PUSH, 1]),
    code: Code.PROTOCOL_ERROR,
  },
  {
    what: 'ENABLE_PUSH 2 is PROTOCOL_ERROR',
    octets: settings([Id.ENABLE_PUSH, 2]),
    code: Code.PROTOCOL_ERROR,
  },
  {
    what: 'INITIAL_WINDOW_SIZE > 2^31-1 is FLOW_CONTROL_ERROR',
    octets: settings([Id.INITIAL_WINDOW_SIZE, UINT31_MAX + 1]),
    code: Code.FLOW_CONTROL_ERROR,
  },
  {
    what: 'MAX_FRAME_SIZE 16383 is PROTOCOL_ERROR',
    octets: settings([Id.MAX_FRAME_SIZE, 16_383]),
    code: Code.PROTOCOL_ERROR,
  },
  {
    what: 'MAX_FRAME_SIZE 2^24 is PROTOCOL_ERROR',
    octets: settings([Id.MAX_FRAME_SIZE, 2 ** 24]),
    code: Code.PROTOCOL_ERROR,
  },
  {
    what: 'a bad value behind good ones is seen',
    octets: settings([Id.MAX_CONCURRENT_STREAMS, 5], [Id.MAX_FRAME_SIZE, 0]),
    code: Code.PROTOCOL_ERROR,
  },
];
for (const { what, octets, code } of WRONG) {
  conversation(`SETTINGS: ${what}`, async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request();
    await peer.expectRequest();
    peer.send(octets);
    await peer.expectGoAway(code);
    t.match(await sent.end, { kind: 'failed', isUnprocessed: false });
  });
}

conversation('SETTINGS: the bounds of each value are taken', async ({ peer }) => {
  await peer.greet(
    [Id.ENABLE_PUSH, 0],
    [Id.INITIAL_WINDOW_SIZE, UINT31_MAX],
    [Id.MAX_FRAME_SIZE, 16_384],
    [Id.MAX_FRAME_SIZE, 2 ** 24 - 1],
    [Id.MAX_HEADER_LIST_SIZE, 0xffff_ffff],
    [Id.MAX_CONCURRENT_STREAMS, 0xffff_ffff],
  );
  await peer.expectQuiet();
});

conversation(
  'SETTINGS: unknown ids are ignored, unknown flags too',
  async ({ t, peer, client }) => {
    await peer.greet([0, 1], [7, 0], [8, 1], [9, 1], [0xfafa, 0xffff_ffff]);
    peer.send({ ...settings([Id.MAX_CONCURRENT_STREAMS, 4]), flags: 0xfe });
    await peer.expect(settingsAck);
    t.equal(client.connection.capacity, 4);
  },
);

conversation('SETTINGS: PUSH_PROMISE after our ENABLE_PUSH=0 is PROTOCOL_ERROR', async (scene) => {
  const { peer, client } = scene;
  await peer.greet();
  const { streamId } = await client.request();
  await peer.expectRequest();
  peer.send(pushPromise(streamId, 2, [[':method', 'GET']]));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation('SETTINGS: PUSH_PROMISE on stream 0 is PROTOCOL_ERROR', async ({ peer }) => {
  await peer.greet();
  peer.send(pushPromise(0, 2, []));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation(
  'SETTINGS: a higher INITIAL_WINDOW_SIZE opens the streams that are open',
  async (scene) => {
    const { peer, client } = scene;
    await peer.greet([Id.INITIAL_WINDOW_SIZE, 4]);
    const { streamId } = await client.request(postOf(10));
    await peer.expectRequestHead();
    await peer.expect(data(streamId, 'xxxx'));
    peer.send(settings([Id.INITIAL_WINDOW_SIZE, 7]));
    await peer.expect(settingsAck);
    await peer.expect(data(streamId, 'xxx'));
    peer.send(settings([Id.INITIAL_WINDOW_SIZE, 10]));
    await peer.expect(settingsAck);
    await peer.expect(data(streamId, 'xxx', END_STREAM));
  },
);

conversation('SETTINGS: a lowered INITIAL_WINDOW_SIZE makes windows NEGATIVE', async (scene) => {
  const { peer, client } = scene;
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 6]);
  const { streamId } = await client.request(postOf(10));
  await peer.expectRequestHead();
  await peer.expect(data(streamId, 'xxxxxx'));
  peer.send(settings([Id.INITIAL_WINDOW_SIZE, 0]));
  await peer.expect(settingsAck);
  // At -6; four octets are still to come.
  peer.send(windowUpdate(streamId, 6));
  await peer.expectQuiet();
  peer.send(windowUpdate(streamId, 1));
  await peer.expect(data(streamId, 'x'));
  peer.send(windowUpdate(streamId, 100));
  await peer.expect(data(streamId, 'xxx', END_STREAM));
});

conversation(
  'SETTINGS: INITIAL_WINDOW_SIZE that lifts an open stream above 2^31-1',
  async (scene) => {
    const { peer, client } = scene;
    await peer.greet();
    const { streamId } = await client.request(GET);
    await peer.expectRequest();
    peer.send(windowUpdate(streamId, 1));
    peer.send(settings([Id.INITIAL_WINDOW_SIZE, UINT31_MAX]));
    await peer.expectGoAway(Code.FLOW_CONTROL_ERROR);
  },
);

conversation('SETTINGS: the connection window is not changed by them', async (scene) => {
  const { peer, client } = scene;
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 100_000]);
  const { streamId } = await client.request(postOf(65_536));
  await peer.expectRequestHead();
  for (let sent = 0; sent < 65_535; ) sent += (await peer.next()).payload.length;
  peer.send(settings([Id.INITIAL_WINDOW_SIZE, 1_000_000]));
  await peer.expect(settingsAck);
  peer.send(windowUpdate(0, 1));
  await peer.expect(data(streamId, 'x', END_STREAM));
});

conversation(
  'SETTINGS: no frame of ours is longer than the least MAX_FRAME_SIZE; more goes into CONTINUATION',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const long = '~'.repeat(40_000);
    const form = {
      ...GET,
      fields: [{ name: 'x-long', value: long, indexing: 'without' }],
    } as const;
    await client.request(form);
    const first = await peer.next();
    t.equal(first.payload.length, 16_384);
    t.equal(first.flags, END_STREAM, 'END_STREAM on HEADERS, END_HEADERS not yet');
    t.match(await peer.next(), { type: Type.CONTINUATION, flags: 0, streamId: first.streamId });
    t.match(await peer.next(), { type: Type.CONTINUATION, flags: 4, streamId: first.streamId });
    peer.send(settings([Id.MAX_FRAME_SIZE, 65_536]));
    await peer.expect(settingsAck);
    await client.request({ ...form, path: '/other/' });
    t.equal((await peer.next()).payload.length, 16_384, 'nor for a peer that takes longer ones');
  },
);

conversation(
  'SETTINGS: MAX_CONCURRENT_STREAMS up, down and 0 while streams are open',
  async (scene) => {
    const { t, peer, client } = scene;
    const { connection } = client;
    await peer.greet([Id.MAX_CONCURRENT_STREAMS, 1]);
    const first = await client.request(GET);
    t.equal(connection.capacity, 0, 'never more');
    t.throws(() => client.connection.send(connection.prepare(GET), '', NOBODY));
    await peer.expectRequest();
    peer.send(settings([Id.MAX_CONCURRENT_STREAMS, 3]));
    await peer.expect(settingsAck);
    t.equal(connection.capacity, 2);
    const second = await client.request(GET);
    await peer.expectRequest();
    peer.send(settings([Id.MAX_CONCURRENT_STREAMS, 0]));
    await peer.expect(settingsAck);
    t.equal(connection.capacity, 0);
    peer.send(headers(first.streamId, [[':status', '200']], END_STREAM));
    peer.send(headers(second.streamId, [[':status', '200']], END_STREAM));
    t.match(await first.end, { status: 200 }, 'those that are open stay so');
    t.match(await second.end, { status: 200 });
    await peer.expectQuiet();
    t.equal(connection.capacity, 0, '0 forbids new ones, nothing else');
    peer.send(settings([Id.MAX_CONCURRENT_STREAMS, 1]));
    await peer.expect(settingsAck);
    t.equal(connection.capacity, 1);
  },
);

conversation(
  'SETTINGS: MAX_CONCURRENT_STREAMS absent means as many as the owner wants',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    t.equal(client.connection.capacity, 100);
  },
);

conversation(
  'SETTINGS: no ACK for ours in time is SETTINGS_TIMEOUT',
  async ({ peer, t }) => {
    await peer.expectPreface();
    peer.send(settings());
    await peer.expect(settingsAck);
    passMs(t, SETTINGS_TIMEOUT_MS + 1);
    await peer.expectGoAway(Code.SETTINGS_TIMEOUT);
    passMs(t, 0);
  },
  { requestTimeoutMs: 40 },
);

conversation(
  'SETTINGS: the timer stops with the ACK',
  async ({ peer, client, t }) => {
    await peer.greet();
    await peer.expectQuiet();
    passMs(t, SETTINGS_TIMEOUT_MS + 1);
    await client.swept();
    await peer.expectQuiet();
    passMs(t, 0);
  },
  { requestTimeoutMs: 40 },
);

const NOBODY = { answered: () => undefined, failed: () => undefined };

conversation('SETTINGS: a frame too short for its head is waited for', async ({ peer }) => {
  await peer.greet();
  const octets = octetsOf(settings([Id.MAX_CONCURRENT_STREAMS, 1]));
  peer.send(octets.subarray(0, 8));
  peer.send(octets.subarray(8));
  await peer.expect(settingsAck);
});
