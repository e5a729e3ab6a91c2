/** RFC 9113, 4 and 6: frames, padding, sizes, and field blocks that span several of them. */

import { block, indexed } from '../../../support/http2/blocks.ts';
import { conversation } from '../../../support/http2/conversation.ts';
import type { Octets } from '../../../support/http2/frames.ts';
import {
  Code,
  continuation,
  data,
  END_HEADERS,
  END_STREAM,
  frame,
  headers,
  headersOf,
  octetsOf,
  PADDED,
  PRIORITY,
  padded,
  ping,
  prioritized,
  priority,
  rstStream,
  settings,
  Type,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import { GET } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;
const OK_BLOCK = block(OK);

conversation('frames: unknown types and flags are ignored', async ({ t, peer, client }) => {
  await peer.greet();
  const sent = await client.request();
  await peer.expectRequest();
  peer.send(
    frame(0xfa, 0xff, 0, 'unknown'),
    frame(0x0a, 0, sent.streamId, 'unknown'),
    frame(0xff, 0, 1_001, ''),
    frame(0x10, 0, 2, 'PRIORITY_UPDATE'),
    { ...headers(sent.streamId, OK), flags: END_HEADERS | 0xd2 },
    data(sent.streamId, 'x', END_STREAM | 0xf6),
  );
  t.match(await sent.end, { status: 200, body: 'x' });
  await peer.expectQuiet();
});

conversation('frames: the reserved bit is masked', async ({ t, peer, client }) => {
  await peer.greet();
  const sent = await client.request();
  await peer.expectRequest();
  const reserved = 2 ** 31;
  peer.send({ ...settings(), streamId: reserved });
  peer.send(windowUpdate(0, reserved + 1));
  peer.send({ ...headers(sent.streamId, OK), streamId: reserved + sent.streamId });
  peer.send({ ...data(sent.streamId, 'x', END_STREAM), streamId: reserved + sent.streamId });
  t.match(await sent.end, { status: 200, body: 'x' });
});

const BETWEEN: Readonly<Record<string, Octets>> = {
  DATA: data(1, 'x'),
  HEADERS: headers(1, OK),
  PRIORITY: priority(1),
  RST_STREAM: rstStream(1, Code.CANCEL),
  SETTINGS: settings(),
  PING: ping('01234567'),
  GOAWAY: frame(Type.GOAWAY, 0, 0, Buffer.alloc(8)),
  WINDOW_UPDATE: windowUpdate(0, 1),
  'an unknown one': frame(0xfa, 0, 1, ''),
  'CONTINUATION of another stream': continuation(3, Buffer.alloc(0), END_HEADERS),
};
for (const [what, octets] of Object.entries(BETWEEN)) {
  conversation(
    `frames: ${what} between HEADERS and its CONTINUATION is PROTOCOL_ERROR`,
    async ({ peer, client }) => {
      await peer.greet();
      await client.request(GET);
      await client.request(GET);
      await peer.expectRequest();
      await peer.expectRequest();
      peer.send(headersOf(1, OK_BLOCK.subarray(0, 3), 0), octets);
      await peer.expectGoAway(Code.PROTOCOL_ERROR);
    },
  );
}

conversation('frames: a field block may be cut anywhere into CONTINUATION', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  for (let cut = 0; cut <= OK_BLOCK.length; cut += 1) {
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headersOf(sent.streamId, OK_BLOCK.subarray(0, cut), END_STREAM));
    peer.send(continuation(sent.streamId, Buffer.alloc(0)));
    peer.send(continuation(sent.streamId, OK_BLOCK.subarray(cut), END_HEADERS));
    t.match(await sent.end, { status: 200 });
  }
});

conversation('frames: CONTINUATION without HEADERS is PROTOCOL_ERROR', async ({ peer, client }) => {
  await peer.greet();
  await client.request(GET);
  await peer.expectRequest();
  peer.send(continuation(1, OK_BLOCK, END_HEADERS));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation('frames: CONTINUATION after END_HEADERS is PROTOCOL_ERROR', async (scene) => {
  const { peer, client } = scene;
  await peer.greet();
  await client.request(GET);
  await peer.expectRequest();
  peer.send(headers(1, OK), continuation(1, OK_BLOCK, END_HEADERS));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation('frames: CONTINUATION on stream 0 is PROTOCOL_ERROR', async ({ peer }) => {
  await peer.greet();
  peer.send(continuation(0, OK_BLOCK, END_HEADERS));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation('frames: PADDED and PRIORITY in HEADERS, PADDED in DATA', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const answers = [
    [padded(headers(1, OK), 9), padded(data(1, 'text', END_STREAM), 255)],
    [prioritized(headers(3, OK)), padded(data(3, 'text', END_STREAM), 0)],
    [padded(prioritized(headers(5, OK)), 1), data(5, 'text', END_STREAM)],
    [headers(7, OK), padded(data(7, 'te'), 3), padded(data(7, ''), 3), data(7, 'xt', END_STREAM)],
    [headers(9, OK), data(9, 'text'), padded(data(9, '', END_STREAM), 12)],
  ];
  for (const answer of answers) {
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(...answer);
    t.match(await sent.end, { status: 200, body: 'text' });
  }
});

const BAD_PADDING: Readonly<Record<string, Octets>> = {
  'DATA: as long as the payload': padded(data(1, ''), 4, 5),
  'DATA: longer than the payload': padded(data(1, 'ab'), 0, 200),
  'HEADERS: as long as the payload': padded(headersOf(1, Buffer.alloc(0), END_HEADERS), 4, 5),
  'HEADERS: longer than the payload': padded(headers(1, OK), 0, 255),
};
for (const [what, octets] of Object.entries(BAD_PADDING)) {
  conversation(`frames: pad length >= payload is PROTOCOL_ERROR, ${what}`, async (scene) => {
    const { peer, client } = scene;
    await peer.greet();
    await client.request(GET);
    await peer.expectRequest();
    peer.send(octets);
    await peer.expectGoAway(Code.PROTOCOL_ERROR);
  });
}

const BAD_SIZES: Readonly<Record<string, Octets>> = {
  'DATA without its Pad Length': frame(Type.DATA, PADDED, 1),
  'HEADERS without its Pad Length': frame(Type.HEADERS, PADDED | END_HEADERS, 1),
  'HEADERS too short for its priority': frame(Type.HEADERS, PRIORITY | END_HEADERS, 1, 'abcd'),
  'RST_STREAM of 3 octets': frame(Type.RST_STREAM, 0, 1, 'abc'),
  'RST_STREAM of 5 octets': frame(Type.RST_STREAM, 0, 1, 'abcde'),
  'PING of 7 octets': frame(Type.PING, 0, 0, '0123456'),
  'PING of 9 octets': frame(Type.PING, 0, 0, '012345678'),
  'a PING ACK of 0 octets': frame(Type.PING, 1, 0),
  'GOAWAY of 7 octets': frame(Type.GOAWAY, 0, 0, Buffer.alloc(7)),
  'WINDOW_UPDATE of 3 octets': frame(Type.WINDOW_UPDATE, 0, 0, 'abc'),
  'WINDOW_UPDATE of 5 octets on a stream': frame(Type.WINDOW_UPDATE, 0, 1, 'abcde'),
};
for (const [what, octets] of Object.entries(BAD_SIZES)) {
  conversation(`frames: ${what} is FRAME_SIZE_ERROR`, async ({ peer, client }) => {
    await peer.greet();
    await client.request(GET);
    await peer.expectRequest();
    peer.send(octets);
    await peer.expectGoAway(Code.FRAME_SIZE_ERROR);
  });
}

conversation('frames: PRIORITY of another size than 5 ends its stream only', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(priority(sent.streamId, 4));
  await peer.expect(rstStream(sent.streamId, Code.FRAME_SIZE_ERROR));
  t.match(await sent.end, { kind: 'failed', isUnprocessed: false });
  await peer.expectQuiet();
});

conversation('frames: PRIORITY is taken on any stream, idle and closed ones too', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(priority(1), priority(2), priority(99), headers(1, OK, END_STREAM), priority(1));
  t.match(await sent.end, { status: 200 });
  await peer.expectQuiet();
});

const ON_STREAM_0: Readonly<Record<string, Octets>> = {
  DATA: data(0, 'x'),
  HEADERS: headers(0, OK),
  PRIORITY: priority(0),
  RST_STREAM: rstStream(0, Code.CANCEL),
};
for (const [what, octets] of Object.entries(ON_STREAM_0)) {
  conversation(`frames: ${what} on stream 0 is PROTOCOL_ERROR`, async ({ peer }) => {
    await peer.greet();
    peer.send(octets);
    await peer.expectGoAway(Code.PROTOCOL_ERROR);
  });
}

conversation(
  'frames: one of our MAX_FRAME_SIZE is taken',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headers(1, OK), data(1, 'x'.repeat(16_384), END_STREAM));
    t.match(await sent.end, { status: 200, isTruncated: false, body: 'x'.repeat(16_384) });
  },
  { bodyOctetsMax: 20_000, deliveries: 'whole-and-octets' },
);

for (const type of [Type.DATA, Type.HEADERS, Type.SETTINGS, 0xfa]) {
  conversation(
    `frames: one > our MAX_FRAME_SIZE is FRAME_SIZE_ERROR before its payload has come, type ${type}`,
    async ({ peer, client }) => {
      await peer.greet();
      await client.request(GET);
      await peer.expectRequest();
      peer.send(octetsOf(frame(type, 0, type === Type.SETTINGS ? 0 : 1), 16_385));
      await peer.expectGoAway(Code.FRAME_SIZE_ERROR);
    },
  );
}

conversation('frames: a header block of indexed fields alone, one octet', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(headersOf(1, indexed(8), END_HEADERS | END_STREAM));
  t.match(await sent.end, { status: 200, fields: {}, body: '' });
});

conversation('frames: a path that grows beyond a frame goes on in CONTINUATION', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  // The first makes the octets for all paths whose length is written alike; Huffman coding would
  // not shorten them.
  for (const length of [300, 400]) {
    await client.request(GET, '~'.repeat(length));
    await peer.expectRequest();
  }
  await client.request(GET, '~'.repeat(16_384));
  const { type, payload } = await peer.next();
  t.match({ type, octets: payload.length }, { type: Type.HEADERS, octets: 16_384 });
  t.match(await peer.next(), { type: Type.CONTINUATION, flags: END_HEADERS });
});
