/**
 * Peers that mean harm (RFC 9113, 10.5): each flood ends bounded, and what is no flood does not.
 */

import { passMs } from '../../../support/http2/clock.ts';
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
  Id,
  octetsOf,
  padded,
  ping,
  pingAck,
  priority,
  rstStream,
  settings,
  Type,
  UINT31_MAX,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import { GET, postOf } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;
/** More than any peer needs: the limit is 1,000 without real work. */
const MANY = 1_100;
/** Fewer than the limit. */
const FEW = 900;

/** Stream 1 is cancelled, stream 3 answered, stream 5 is open and has its head. */
const FLOODS: Readonly<Record<string, Octets>> = {
  PING: ping('01234567'),
  'PING ACK': pingAck('01234567'),
  SETTINGS: settings(),
  'RST_STREAM of a closed stream': rstStream(1, Code.CANCEL),
  PRIORITY: priority(1),
  'PRIORITY of a wrong size on a closed stream': priority(1, 4),
  'unknown frames': frame(0xfa, 0, 0, ''),
  'empty DATA': data(5, ''),
  'DATA of padding alone': padded(data(5, ''), 1),
  'DATA on a reset stream': data(1, ''),
  'HEADERS on a reset stream': headers(1, [['a', 'b']]),
  'WINDOW_UPDATE of the connection': windowUpdate(0, 1),
  'WINDOW_UPDATE of a stream': windowUpdate(5, 1),
  'WINDOW_UPDATE of a closed stream': windowUpdate(3, 1),
  'WINDOW_UPDATE 0 of a closed stream': windowUpdate(3, 0),
  GOAWAY: frame(Type.GOAWAY, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])),
};
for (const [what, octets] of Object.entries(FLOODS)) {
  for (const [count, isFlood] of [
    [FEW, false],
    [MANY, true],
  ] as const) {
    conversation(
      `floods: ${count} of ${what} ${isFlood ? 'end the connection: ENHANCE_YOUR_CALM' : 'are borne'}`,
      async ({ t, peer, client }) => {
        await peer.greet();
        const cancelled = await client.request(GET);
        const answered = await client.request(GET);
        await client.request(GET);
        for (let i = 0; i < 3; i += 1) await peer.expectRequest();
        client.cancel(cancelled);
        await peer.expect(rstStream(1, Code.CANCEL));
        peer.send(headers(3, OK, END_STREAM), headers(5, OK));
        t.match(await answered.end, { status: 200 });
        peer.send(Buffer.concat(new Array(count).fill(octetsOf(octets))));
        const seen: number[] = [];
        for (let last = -1; isFlood ? last !== Type.GOAWAY : false; seen.push(last)) {
          last = (await peer.next()).type;
        }
        if (isFlood) {
          t.match(await client.closed(), /ENHANCE_YOUR_CALM/);
          return;
        }
        peer.send(settings([Id.MAX_CONCURRENT_STREAMS, 55]));
        await client.until(() => client.connection.capacity < 60);
        t.equal(client.connection.isClosed, false);
      },
      { deliveries: 'whole' },
    );
  }
}

conversation('floods: 1xx without end', async ({ t, peer, client }) => {
  await peer.greet();
  await client.request(GET);
  await peer.expectRequest();
  const interim = octetsOf(headers(1, [[':status', '103']]));
  peer.send(Buffer.concat(new Array(MANY).fill(interim)));
  await peer.expectGoAway(Code.ENHANCE_YOUR_CALM);
  t.match(client.ends.get(1)?.ends, [{ kind: 'failed', isUnprocessed: false }]);
});

conversation('floods: CONTINUATION by count, empty ones even', async ({ peer, client }) => {
  await peer.greet();
  await client.request(GET);
  await peer.expectRequest();
  peer.send(headersOf(1, Buffer.from([0x88]), 0));
  peer.send(...Array.from({ length: 30 }, () => continuation(1, Buffer.alloc(0))));
  await peer.expectGoAway(Code.ENHANCE_YOUR_CALM);
});

conversation(
  'floods: CONTINUATION by size',
  async ({ peer, client }) => {
    await peer.greet();
    await client.request(GET);
    await peer.expectRequest();
    peer.send(headersOf(1, Buffer.alloc(16_384), 0));
    peer.send(...Array.from({ length: 5 }, () => continuation(1, Buffer.alloc(16_384))));
    await peer.expectGoAway(Code.ENHANCE_YOUR_CALM);
  },
  { deliveries: 'whole' },
);

conversation('floods: CONTINUATION on a reset stream', async ({ peer, client }) => {
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  client.cancel(sent);
  await peer.expect(rstStream(1, Code.CANCEL));
  peer.send(headersOf(1, Buffer.from([0x88]), 0));
  peer.send(...Array.from({ length: 30 }, () => continuation(1, Buffer.alloc(0))));
  await peer.expectGoAway(Code.ENHANCE_YOUR_CALM);
});

conversation(
  'floods: RST_STREAM for every request is no flood',
  async ({ t, peer, client }) => {
    await peer.greet();
    for (let i = 0; i < MANY; i += 1) {
      const sent = await client.request(GET);
      await peer.expectRequest();
      peer.send(rstStream(sent.streamId, Code.REFUSED_STREAM));
      t.match(await sent.end, { isUnprocessed: true });
    }
    await peer.expectQuiet();
  },
  { deliveries: 'whole' },
);

conversation(
  'floods: so much content that its WINDOW_UPDATEs outnumber the limit is none',
  async ({ t, peer, client }) => {
    await peer.greet([Id.INITIAL_WINDOW_SIZE, 16_384]);
    const frames = MANY;
    const sent = await client.request(postOf(frames * 16_384));
    await peer.expectRequestHead();
    for (let i = 0; i < frames; i += 1) {
      await peer.next();
      peer.send(windowUpdate(0, 16_384), windowUpdate(1, 16_384));
    }
    peer.send(headers(1, OK, END_STREAM));
    t.match(await sent.end, { status: 200 });
  },
  { deliveries: 'whole' },
);

conversation(
  'floods: a peer that asks for PINGs slowly and never reads ends bounded',
  async ({ t, peer, client }) => {
    await peer.greet();
    peer.stopReading();
    const asks = Buffer.concat(new Array(FEW).fill(octetsOf(ping('01234567'))));
    let rounds = 0;
    for (; !client.connection.isClosed && rounds < 100; rounds += 1) {
      // Eleven seconds pass between them, so that no count of frames runs over.
      passMs(t, rounds * 11_000);
      peer.send(asks);
      await new Promise((resolve) => setImmediate(resolve));
    }
    passMs(t, 0);
    t.match(await client.closed(), /ENHANCE_YOUR_CALM: the peer asks and does not read/);
    t.ok(rounds <= 70, 'no more than a megabyte of answers was kept');
  },
  { deliveries: 'whole' },
);

conversation(
  'floods: responses with END_HEADERS split are taken, 16 CONTINUATIONs',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(headersOf(1, Buffer.from([0x88]), END_STREAM));
    for (let i = 0; i < 15; i += 1) peer.send(continuation(1, Buffer.alloc(0)));
    peer.send(continuation(1, Buffer.alloc(0), END_HEADERS));
    t.match(await sent.end, { status: 200 });
  },
);

conversation(
  'floods: windows as large as they may be do not make content pile up',
  async ({ t, peer, client }) => {
    await peer.greet([Id.INITIAL_WINDOW_SIZE, UINT31_MAX]);
    peer.send(windowUpdate(0, UINT31_MAX - 65_535));
    await peer.expectQuiet();
    peer.stopReading();
    await client.request(postOf(8_000_000));
    await client.until(() => client.connection.capacity === 0);
    peer.readAgain();
    t.equal((await peer.expectRequest()).content.length, 8_000_000);
    peer.send(headers(1, OK, END_STREAM));
  },
  { deliveries: 'whole' },
);
