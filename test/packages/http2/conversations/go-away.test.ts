/**
 * RFC 9113, 5.4.1, 6.8 and 8.7: how a connection ends, and what that says about the requests under
 * way.
 */

import { conversation } from '../../../support/http2/conversation.ts';
import {
  Code,
  data,
  END_STREAM,
  goAway,
  headers,
  Id,
  ping,
  rstStream,
  settings,
  settingsAck,
  UINT31_MAX,
} from '../../../support/http2/frames.ts';
import { GET, POST, postOf } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;

conversation(
  'GOAWAY: no new streams; above last-id safe to retry; the others may complete',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = [];
    for (let i = 0; i < 3; i += 1) sent.push(await client.request(GET));
    const [first, second, third] = sent;
    for (let i = 0; i < 3; i += 1) await peer.expectRequest();
    peer.send(goAway(3, Code.NO_ERROR));
    t.match(await third?.end, { kind: 'failed', isUnprocessed: true, reason: 'GOAWAY NO_ERROR' });
    t.equal(client.connection.capacity, 0);
    t.same(client.events, ['draining GOAWAY NO_ERROR']);
    peer.send(headers(3, OK), data(3, 'x', END_STREAM));
    t.match(await second?.end, { status: 200, body: 'x' });
    peer.send(headers(1, OK, END_STREAM));
    t.match(await first?.end, { status: 200 });
    await peer.expectFarewell();
    t.equal(await client.closed(), 'closed drained');
  },
);

conversation(
  'GOAWAY: 2^31-1 is a graceful warning, the last id comes with the second',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const first = await client.request(GET);
    const second = await client.request(GET);
    await peer.expectRequest();
    await peer.expectRequest();
    peer.send(goAway(UINT31_MAX, Code.NO_ERROR));
    await peer.expectQuiet();
    t.equal(client.connection.capacity, 0);
    t.equal(client.ends.get(3)?.ends.length, 0, 'nothing is lost yet');
    peer.send(goAway(1, Code.NO_ERROR));
    t.match(await second.end, { isUnprocessed: true });
    peer.send(headers(1, OK, END_STREAM));
    t.match(await first.end, { status: 200 });
    await peer.expectFarewell();
    t.equal(client.events.length, 2, 'the owner hears of it once');
  },
);

conversation('GOAWAY: several with the same id, with falling ids', async ({ t, peer, client }) => {
  await peer.greet();
  for (let i = 0; i < 3; i += 1) await client.request(GET);
  for (let i = 0; i < 3; i += 1) await peer.expectRequest();
  for (const id of [5, 5, 3, 1]) peer.send(goAway(id, Code.NO_ERROR));
  await peer.expectQuiet();
  const unprocessed = [...client.ends].map(([, { ends }]) => ends.length);
  t.same(unprocessed, [0, 1, 1]);
  peer.send(goAway(0, Code.NO_ERROR));
  await peer.expectFarewell();
  t.match(client.ends.get(1)?.ends, [{ kind: 'failed', isUnprocessed: true }]);
});

conversation('GOAWAY: an id that rises is PROTOCOL_ERROR', async ({ t, peer, client }) => {
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(goAway(1, Code.NO_ERROR), goAway(3, Code.NO_ERROR));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
  t.match(await sent.end, { kind: 'failed', isUnprocessed: false });
});

conversation(
  'GOAWAY: error code and debug data are told; ENHANCE_YOUR_CALM by its name',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request();
    await peer.expectRequest();
    peer.send(goAway(0, Code.ENHANCE_YOUR_CALM, '{"reason":"Shutdown"}'));
    const reason = 'GOAWAY ENHANCE_YOUR_CALM {"reason":"Shutdown"}';
    t.match(await sent.end, { kind: 'failed', isUnprocessed: true, reason });
    await peer.expectFarewell();
    t.same(client.events, [`draining ${reason}`, 'closed drained']);
  },
);

conversation('GOAWAY: an unknown code, and debug data of 16 KB, are taken', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  peer.send(goAway(0, 0xdead_beef, 'x'.repeat(16_000)));
  await peer.expectFarewell();
  t.match(client.events[0], /^draining GOAWAY 0xdeadbeef x{512}$/);
});

conversation('GOAWAY: with an error, streams up to last-id may still complete', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(goAway(1, Code.INTERNAL_ERROR), headers(1, OK, END_STREAM));
  t.match(await sent.end, { status: 200 });
  await peer.expectFarewell();
});

conversation('GOAWAY: on a stream is PROTOCOL_ERROR', async ({ peer }) => {
  await peer.greet();
  peer.send({ ...goAway(0, Code.NO_ERROR), streamId: 1 });
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
});

conversation(
  'GOAWAY: a peer that closes after it: what it had looked at is unknown',
  async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const first = await client.request(GET);
    const second = await client.request(GET);
    await peer.expectRequest();
    await peer.expectRequest();
    peer.send(goAway(1, Code.NO_ERROR));
    peer.end();
    t.match(await second.end, { isUnprocessed: true });
    t.match(await first.end, { isUnprocessed: false, reason: 'connection closed by the peer' });
  },
);

conversation('GOAWAY: content that waits is still sent while draining', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet([Id.INITIAL_WINDOW_SIZE, 1]);
  const sent = await client.request(postOf(2));
  await peer.expectRequestHead();
  await peer.expect(data(1, 'x'));
  peer.send(goAway(1, Code.NO_ERROR), settings([Id.INITIAL_WINDOW_SIZE, 2]));
  await peer.expect(settingsAck);
  await peer.expect(data(1, 'x', END_STREAM));
  peer.send(headers(1, OK, END_STREAM));
  t.match(await sent.end, { status: 200 });
});

conversation('GOAWAY: a retry sent from inside of an end finds no capacity', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const capacities: number[] = [];
  client.sendNow(GET, 'a', () => capacities.push(client.connection.capacity));
  await peer.expectRequest();
  peer.send(goAway(0, Code.NO_ERROR));
  await peer.expectFarewell();
  t.same(capacities, [0]);
});

conversation('GOAWAY: others cancelled from inside of an end stay without one', async (scene) => {
  const { peer, client } = scene;
  await peer.greet();
  const first = client.sendNow(GET, 'a', () => client.cancel(second));
  const second = client.sendNow(GET, 'b', () => client.cancel(first));
  await peer.expectRequest();
  await peer.expectRequest();
  peer.send(goAway(0, Code.NO_ERROR));
  await peer.expectNextOf(goAway(0, Code.NO_ERROR), () => undefined);
  await peer.expectEnd();
});

conversation('drain: no new streams, closed with GOAWAY when the last has ended', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  client.connection.drain();
  t.equal(client.connection.capacity, 0);
  await peer.expectQuiet();
  peer.send(headers(1, OK, END_STREAM));
  t.match(await sent.end, { status: 200 });
  await peer.expectFarewell();
});

conversation('close: socket closed without GOAWAY, the outcome is UNKNOWN', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request();
  await peer.expectRequest();
  peer.end();
  t.match(await sent.end, { kind: 'failed', isUnprocessed: false });
});

conversation('close: socket lost without GOAWAY, the outcome is UNKNOWN', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = await client.request();
  await peer.expectRequest();
  peer.send(headers(1, OK));
  await peer.expectQuiet();
  peer.cut();
  const end = { kind: 'failed', isUnprocessed: false, status: 200, reason: 'ECONNRESET' };
  t.match(await sent.end, end);
});

conversation(
  'close: a request that was not flushed is unprocessed',
  async ({ t, peer, client }) => {
    await peer.greet();
    const flushed = await client.request();
    await peer.expectRequest();
    await client.until(() => client.connection.capacity > 0);
    const first = client.sendNow();
    const second = client.sendNow(GET);
    client.connection.destroy('lost');
    t.match(await flushed.end, { isUnprocessed: false });
    t.match(await first.end, { isUnprocessed: true });
    t.match(await second.end, { isUnprocessed: true });
    await peer.expectEnd();
  },
);

conversation(
  'close: a request that was flushed in part is unknown',
  async ({ t, peer, client }) => {
    await peer.greet([Id.INITIAL_WINDOW_SIZE, UINT31_MAX]);
    const sent = await client.request(postOf(65_530));
    client.connection.destroy('lost');
    t.match(await sent.end, { isUnprocessed: false }, 'its HEADERS are under way');
    t.match(await peer.expectRequestHead(), { streamId: 1 });
  },
  { deliveries: 'whole' },
);

conversation(
  'close: an error leaves unsent what was not flushed, and says so',
  async ({ t, peer, client }) => {
    await peer.greet();
    const ends: unknown[] = [];
    await client.until(() => client.connection.capacity > 0);
    // From inside of an answer a request is written; the next frame of the same chunk is an error.
    client.sendNow(GET, 'a', () => {
      ends.push(client.sendNow(POST, 'b').end, client.sendNow(GET, 'c').end);
    });
    await peer.expectRequest();
    peer.send(headers(1, OK, END_STREAM), data(7, 'x'));
    await peer.expectGoAway(Code.PROTOCOL_ERROR);
    for (const end of await Promise.all(ends)) t.match(end, { isUnprocessed: true });
  },
  { deliveries: 'whole' },
);

conversation('close: an error of the peer is told to every request', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  const sent = [await client.request(GET), await client.request(POST)];
  await peer.expectRequest();
  await peer.expectRequest();
  peer.send(rstStream(0, Code.CANCEL));
  const words = await peer.expectGoAway(Code.PROTOCOL_ERROR);
  for (const { end } of sent) t.match(await end, { reason: `PROTOCOL_ERROR: ${words}` });
  t.same(client.events, [`closed PROTOCOL_ERROR: ${words}`]);
});

conversation('close: what comes after our GOAWAY is ignored', async ({ peer, t, client }) => {
  await peer.greet();
  const sent = await client.request(GET);
  await peer.expectRequest();
  peer.send(data(9, 'x'), headers(1, OK, END_STREAM), ping('01234567'));
  await peer.expectGoAway(Code.PROTOCOL_ERROR);
  t.match(await sent.end, { kind: 'failed' });
});

conversation('close: of a client that was drained while nothing was open', async (scene) => {
  const { peer, client } = scene;
  await peer.greet();
  client.connection.drain();
  await peer.expectFarewell();
});
