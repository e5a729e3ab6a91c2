/** RFC 9113, 6.7: PING, the peer's and our own. */

import { passMs } from '../../../support/http2/clock.ts';
import { conversation } from '../../../support/http2/conversation.ts';
import {
  ACK,
  Code,
  END_STREAM,
  headers,
  Id,
  ping,
  pingAck,
  rstStream,
  settings,
  settingsAck,
  Type,
  UINT31_MAX,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import { GET, postOf } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;
const OURS = ping('liveness');

conversation('PING: ack with the same 8 bytes', async ({ peer }) => {
  await peer.greet();
  for (const opaque of ['01234567', '\0\0\0\0\0\0\0\0', 'liveness']) {
    peer.send(ping(opaque));
    await peer.expect(pingAck(opaque));
  }
});

conversation(
  'PING: ack ahead of other output',
  async ({ peer, client }) => {
    await peer.greet();
    await client.until(() => client.connection.capacity > 0);
    client.sendNow(GET, 'a', () => client.sendNow(GET, 'b'));
    await peer.expectRequest();
    // Answers to this chunk are flushed at its end; the answer to PING is not kept so long.
    peer.send(settings(), headers(1, OK, END_STREAM), ping('01234567'));
    await peer.expect(pingAck('01234567'));
    await peer.expect(settingsAck);
    const { streamId } = await peer.expectRequest();
    peer.send(headers(streamId, OK, END_STREAM));
  },
  { deliveries: 'whole' },
);

conversation(
  'PING: ack although content waits for windows and for the socket',
  async ({ peer, client, t }) => {
    await peer.greet([Id.INITIAL_WINDOW_SIZE, UINT31_MAX]);
    peer.send(windowUpdate(0, 1_000_000));
    const sent = await client.request(postOf(1_000_000));
    await peer.expectRequestHead();
    peer.send(ping('01234567'));
    let octets = 0;
    await peer.expectNextOf(pingAck('01234567'), ({ payload }) => {
      octets += payload.length;
    });
    t.ok(octets < 1_000_000, 'not behind all of it');
    peer.send(rstStream(1, Code.CANCEL));
    t.match(await sent.end, { kind: 'failed' });
  },
  { deliveries: 'whole' },
);

conversation('PING: stream != 0 is PROTOCOL_ERROR', async ({ peer }) => {
  await peer.greet();
  peer.send({ ...ping('01234567'), streamId: 1 });
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation('PING: an ACK that nobody asked for is ignored', async ({ peer }) => {
  await peer.greet();
  peer.send(pingAck('01234567'));
  await peer.expectQuiet();
});

conversation('PING: unknown flags beside ACK do not matter', async ({ peer }) => {
  await peer.greet();
  peer.send({ ...ping('01234567'), flags: 0xfe });
  await peer.expect(pingAck('01234567'));
  peer.send({ ...ping('01234567'), flags: 0xfe | ACK });
  await peer.expectQuiet();
});

const SILENT = { requestTimeoutMs: 40, pingAfterSilenceMs: 0, pingTimeoutMs: 600_000 };

conversation(
  'PING: own PING for liveness after silence, at most so many without a request between',
  async ({ t, peer, client }) => {
    await peer.greet();
    for (let i = 0; i < 2; i += 1) {
      await peer.expect(OURS);
      peer.send(pingAck(OURS.payload));
    }
    await client.swept();
    await client.swept();
    await peer.expectQuiet();
    const sent = await client.request(GET);
    t.match(await peer.next(), { type: Type.HEADERS });
    peer.send(headers(1, OK, END_STREAM));
    t.match(await sent.end, { status: 200 });
    await peer.expect(OURS);
  },
  { ...SILENT, pingsInARowMax: 2 },
);

conversation(
  'PING: without an ACK or anything else in time the connection is given up',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    await peer.expect(OURS);
    t.match(await sent.end, { kind: 'failed', isUnprocessed: false });
    t.equal(await client.closed(), 'closed no answer to PING');
  },
  // The request's own time-out may be first.
  { ...SILENT, pingTimeoutMs: 20, deliveries: 'whole' },
);

conversation(
  'PING: a request without an answer makes us ask, once',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    t.match(await sent.end, { reason: 'no answer in time' });
    await peer.expectNextOf(OURS, () => undefined);
    peer.send(pingAck(OURS.payload));
    await peer.expectNextOf(rstStream(1, Code.CANCEL), () => undefined);
    t.equal(client.connection.isClosed, false, 'the peer lives');
  },
  { ...SILENT, pingAfterSilenceMs: 600_000, pingsInARowMax: 1 },
);

conversation(
  'PING: a peer that is never silent is not given up for an ACK that is late',
  async ({ t, peer, client }) => {
    await peer.greet();
    await peer.expect(OURS);
    for (let i = 1; i <= 5; i += 1) {
      passMs(t, i * 400_000);
      await peer.expectQuiet();
      await client.swept();
      await client.swept();
      t.equal(client.connection.isClosed, false, 'a sign of life');
    }
    passMs(t, 0);
  },
  { ...SILENT, pingsInARowMax: 1 },
);
