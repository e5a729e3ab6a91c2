/** RFC 9113, 5.2 and 6.9: both windows, both ways. */

import { conversation } from '../../../support/http2/conversation.ts';
import type { Frame } from '../../../support/http2/frames.ts';
import {
  Code,
  data,
  END_STREAM,
  headers,
  Id,
  padded,
  ping,
  pingAck,
  rstStream,
  settings,
  settingsAck,
  UINT31_MAX,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import type { ScriptedPeer } from '../../../support/http2/peer.ts';
import { GET, POST, postOf } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;
const INITIAL_WINDOW = 65_535;
/** The window that our client gives for the whole connection. */
const CONNECTION_WINDOW = 4 * 1_024 * 1_024;
const FRAME_MAX = 16_384;

conversation(
  'flow: two windows start at 65535: the connection window holds content back',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet([Id.INITIAL_WINDOW_SIZE, 1_000_000]);
    const { streamId } = await client.request(postOf(INITIAL_WINDOW + 2));
    await peer.expectRequestHead();
    t.equal(await contentOctets(peer, INITIAL_WINDOW), INITIAL_WINDOW);
    await peer.expectQuiet();
    peer.send(windowUpdate(streamId, 10));
    await peer.expectQuiet();
    peer.send(windowUpdate(0, 1));
    await peer.expect(data(streamId, 'x'));
    peer.send(windowUpdate(0, 1));
    await peer.expect(data(streamId, 'x', END_STREAM));
  },
);

conversation(
  'flow: two windows start at 65535: the stream window holds content back',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    peer.send(windowUpdate(0, 1_000_000));
    const { streamId } = await client.request(postOf(INITIAL_WINDOW + 2));
    await peer.expectRequestHead();
    t.equal(await contentOctets(peer, INITIAL_WINDOW), INITIAL_WINDOW);
    peer.send(windowUpdate(0, 1_000));
    await peer.expectQuiet();
    peer.send(windowUpdate(streamId, 2));
    await peer.expect(data(streamId, 'xx', END_STREAM));
  },
);

conversation('flow: a stream that waits does not hold up others', async ({ peer, client }) => {
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 1]);
  const first = await client.request(postOf(2));
  await peer.expectRequestHead();
  await peer.expect(data(first.streamId, 'x'));
  const second = await client.request(postOf(1));
  await peer.expectRequestHead();
  await peer.expect(data(second.streamId, 'x', END_STREAM));
  peer.send(windowUpdate(first.streamId, 1));
  await peer.expect(data(first.streamId, 'x', END_STREAM));
});

conversation('flow: many small requests use up the connection window exactly', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const form = postOf(10_000);
  const sent = [];
  for (let i = 0; i < 7; i += 1) sent.push(await client.request(form, `n${i}`));
  let octets = 0;
  for (let i = 0; i < 6; i += 1) octets += (await peer.expectRequest()).content.length;
  const { streamId } = await peer.expectRequestHead();
  const rest = await peer.next();
  t.equal(octets + rest.payload.length, INITIAL_WINDOW);
  await peer.expectQuiet();
  peer.send(windowUpdate(0, 10_000));
  await peer.expect(data(streamId, 'x'.repeat(10_000 - rest.payload.length), END_STREAM));
});

conversation('flow: empty DATA+END_STREAM is allowed with window 0', async ({ peer, client }) => {
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 0]);
  const form = { ...postOf(0), valueIn: 'content' } as const;
  const { streamId } = await client.request(form, '');
  await peer.expectRequestHead();
  await peer.expect(data(streamId, '', END_STREAM));
  await client.request(form, '');
  await peer.expectRequestHead();
  await peer.expect(data(streamId + 2, '', END_STREAM));
});

conversation(
  'flow: a request that is HEADERS alone goes with window 0',
  async ({ peer, client }) => {
    await peer.greet([Id.INITIAL_WINDOW_SIZE, 0]);
    for (let i = 0; i < 3; i += 1) {
      await client.request(GET);
      await peer.expectRequest();
    }
  },
);

conversation('flow: WINDOW_UPDATE 0 on the connection is PROTOCOL_ERROR', async ({ peer }) => {
  await peer.greet();
  peer.send(windowUpdate(0, 0));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation('flow: WINDOW_UPDATE 0 on a stream is its PROTOCOL_ERROR', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(windowUpdate(sent.streamId, 0));
  await peer.expect(rstStream(sent.streamId, Code.PROTOCOL_ERROR));
  t.match(await sent.end, { kind: 'failed', isUnprocessed: false });
  await peer.expectQuiet();
});

conversation(
  'flow: overflow > 2^31-1 of the connection is FLOW_CONTROL_ERROR',
  async ({ peer }) => {
    await peer.greet();
    peer.send(windowUpdate(0, UINT31_MAX - INITIAL_WINDOW));
    await peer.expectQuiet();
    peer.send(windowUpdate(0, 1));
    await peer.expectGoAway(Code.FLOW_CONTROL_ERROR);
  },
);

conversation('flow: overflow > 2^31-1 of a stream is RST FLOW_CONTROL_ERROR', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(windowUpdate(sent.streamId, UINT31_MAX - INITIAL_WINDOW));
  await peer.expectQuiet();
  peer.send(windowUpdate(sent.streamId, 1));
  await peer.expect(rstStream(sent.streamId, Code.FLOW_CONTROL_ERROR));
  t.match(await sent.end, { kind: 'failed' });
});

conversation(
  'flow: a peer that gives back what we used of the largest window is right',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet([Id.INITIAL_WINDOW_SIZE, UINT31_MAX]);
    // The second one takes the path of prepared octets.
    for (let i = 0; i < 2; i += 1) {
      const sent = await client.request(POST);
      const { content } = await peer.expectRequest();
      peer.send(windowUpdate(sent.streamId, content.length), windowUpdate(0, content.length));
      peer.send(headers(sent.streamId, OK, END_STREAM));
      t.match(await sent.end, { kind: 'answered' });
    }
  },
);

conversation('flow: WINDOW_UPDATE on a closed stream is tolerated', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const answered = await client.request(GET);
  const cancelled = await client.request(GET);
  await peer.expectRequest();
  await peer.expectRequest();
  client.cancel(cancelled);
  await peer.expect(rstStream(cancelled.streamId, Code.CANCEL));
  peer.send(headers(answered.streamId, OK, END_STREAM));
  t.match(await answered.end, { status: 200 });
  for (const { streamId } of [answered, cancelled]) {
    peer.send(windowUpdate(streamId, 1), windowUpdate(streamId, UINT31_MAX));
    peer.send(windowUpdate(streamId, 0));
  }
  await peer.expectQuiet();
});

conversation(
  'flow: our receive windows are replenished, the stream and the connection',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headers(sent.streamId, OK));
    const chunk = data(sent.streamId, Buffer.alloc(FRAME_MAX));
    let given = 0;
    for (let octets = 0; octets < CONNECTION_WINDOW; octets += FRAME_MAX) {
      peer.send(chunk);
      await peer.expectNextOf(windowUpdate(sent.streamId, FRAME_MAX), (update) => {
        given += update.payload.readUInt32BE();
      });
    }
    t.ok(given >= (CONNECTION_WINDOW * 7) / 8, 'the connection window is opened again');
    peer.send(data(sent.streamId, '', END_STREAM));
    t.match(await sent.end, { status: 200, isTruncated: false });
  },
  { bodyOctetsMax: 8 * 1_024 * 1_024, deliveries: 'whole' },
);

conversation(
  'flow: the connection window is replenished for DATA on reset streams, padding counted',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    client.cancel(sent);
    await peer.expect(rstStream(sent.streamId, Code.CANCEL));
    const late = padded(data(sent.streamId, Buffer.alloc(FRAME_MAX - 256)), 255);
    t.equal(late.payload.length, FRAME_MAX);
    const frames = CONNECTION_WINDOW / 8 / FRAME_MAX;
    for (let i = 0; i < frames; i += 1) peer.send(late);
    await peer.expect(windowUpdate(0, CONNECTION_WINDOW / 8));
  },
  { deliveries: 'whole' },
);

conversation(
  'flow: whole payload incl. padding counts against the stream window',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headers(sent.streamId, OK));
    // 33 octets of content in all, 8,192 of the window: an eighth of it.
    for (let i = 0; i < 31; i += 1) peer.send(padded(data(sent.streamId, 'x'), 255));
    peer.send(padded(data(sent.streamId, 'x'), 223), padded(data(sent.streamId, 'x'), 5));
    await peer.expect(windowUpdate(sent.streamId, 31 * 257 + 225));
    peer.send(data(sent.streamId, '', END_STREAM));
    t.match(await sent.end, { body: 'x'.repeat(33) });
  },
);

conversation('flow: reading goes on while writing is blocked', async ({ t, peer, client }) => {
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 0]);
  const blocked = await client.request(postOf(5));
  await peer.expectRequestHead();
  const other = await client.request(GET);
  await peer.expectRequest();
  peer.send(ping('01234567'));
  await peer.expect(pingAck('01234567'));
  peer.send(headers(other.streamId, OK), data(other.streamId, 'read', END_STREAM));
  t.match(await other.end, { body: 'read' });
  peer.send(settings([Id.INITIAL_WINDOW_SIZE, 5]));
  await peer.expect(settingsAck);
  await peer.expect(data(blocked.streamId, 'xxxxx', END_STREAM));
});

conversation(
  'flow: reading goes on while the peer does not read at all',
  async ({ t, peer, client }) => {
    await peer.greet([Id.INITIAL_WINDOW_SIZE, UINT31_MAX]);
    peer.send(windowUpdate(0, UINT31_MAX - INITIAL_WINDOW));
    await peer.expectQuiet();
    const early = await client.request(GET);
    await peer.expectRequest();
    peer.stopReading();
    const large = await client.request(postOf(2_000_000));
    await client.until(() => client.connection.capacity === 0);
    peer.send(headers(early.streamId, OK), data(early.streamId, 'read', END_STREAM));
    t.match(await early.end, { body: 'read' });
    peer.readAgain();
    t.equal((await peer.expectRequest()).content.length, 2_000_000);
    peer.send(headers(large.streamId, OK, END_STREAM));
    t.match(await large.end, { status: 200 });
  },
  { deliveries: 'whole' },
);

/** Reads DATA until so many octets have come. */
async function contentOctets(peer: ScriptedPeer, octets: number): Promise<number> {
  let received = 0;
  while (received < octets) {
    const { payload }: Frame = await peer.next();
    received += payload.length;
  }
  return received;
}
