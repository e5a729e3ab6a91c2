/** The faults of connections and streams, as a client on the wire sees them. */

import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import t from 'tap';
import type { Simulator } from '../../../../packages/simulator/src/simulator.ts';
import { apnsHeaders, apnsToken, ask, control, open, simulate } from '../peer.ts';

const BODY = '{"aps":{"alert":"Goal!"}}';
const REFUSED_STREAM = 'NGHTTP2_REFUSED_STREAM';

t.test('GOAWAY: what it promises is served, the rest may be sent again without harm', async (t) => {
  const goAwayEvery = 10;
  const simulator = await simulate(t, { ends: { goAway: goAwayEvery } });
  const session = open(t, simulator, simulator.apnsOrigin);
  await once(session, 'remoteSettings');
  const headers = await apnsHeaders(simulator.accounts, apnsToken(0));
  const goneAway = once(session, 'goaway');
  // All are on their way before the server has seen one, so some of them come after the last.
  const pushes = Array.from({ length: 25 }, async (_, index) => {
    const path = `/3/device/${apnsToken(index)}`;
    return (await ask(session, { ...headers, ':path': path }, BODY)).status;
  });
  const [code, lastStreamId, text] = await goneAway;
  t.match([code, JSON.parse(String(text))], [0, { reason: 'Shutdown' }]);
  t.equal(lastStreamId, 2 * goAwayEvery - 1, 'the tenth stream is the last');
  const ends = await Promise.allSettled(pushes);
  const served = ends.filter((end) => end.status === 'fulfilled');
  t.equal(served.length, goAwayEvery, 'those up to the last are answered, the others are not');
  const { json } = await control<{ apns: object }>(simulator, 'GET /state');
  t.match(json.apns, { accepted: goAwayEvery, tokens: goAwayEvery }, 'nor are they recorded');
});

t.test('a silent stream stays silent while others are answered', async (t) => {
  const simulator = await simulate(t);
  const session = open(t, simulator, simulator.apnsOrigin);
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  await control(simulator, 'PUT /behaviour', { silentShare: 1 });
  const silent = session.request({ ':method': 'POST', ...headers });
  let heard = false;
  silent.on('response', () => {
    heard = true;
  });
  silent.end(BODY);
  const rejected = { Unanswered: 1 };
  const received = `GET /received/apns/${apnsToken(1)}`;
  while ((await control<{ count: number }>(simulator, received)).json.count === 0);
  await control(simulator, 'PUT /behaviour', { silentShare: 0 });
  const next = { ...headers, ':path': `/3/device/${apnsToken(2)}` };
  t.equal((await ask(session, next, BODY)).status, 200);
  t.notOk(heard, 'an answer sent before the other would have come before it');
  t.match((await control(simulator, received)).json, { accepted: 0, rejected });
});

t.test('latency goes by before the answer', async (t) => {
  const simulator = await simulate(t, { latencyMs: 300 });
  const session = open(t, simulator, simulator.apnsOrigin);
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  const startedMs = performance.now();
  t.equal((await ask(session, headers, BODY)).status, 200);
  t.ok(performance.now() - startedMs >= 290, 'a lower bound only: timers may be late, never early');
});

t.test('the limit of streams is told, by default and when it changes', async (t) => {
  const simulator = await simulate(t);
  const limitOf = async (session: ClientHttp2Session) => {
    const [settings] = await once(session, 'remoteSettings');
    return settings.maxConcurrentStreams;
  };
  const apns = open(t, simulator, simulator.apnsOrigin);
  t.equal(await limitOf(apns), 1, 'one until a valid token has come');
  const risen = limitOf(apns);
  await ask(apns, await apnsHeaders(simulator.accounts, apnsToken(1)), BODY);
  t.equal(await risen, 1_000);
  t.equal(await limitOf(open(t, simulator, simulator.fcmOrigin)), 100);
  const changed = limitOf(apns);
  await control(simulator, 'PUT /behaviour', { maxConcurrentStreams: 5 });
  t.equal(await changed, 5, 'an open connection learns it');
  t.equal(await limitOf(open(t, simulator, simulator.fcmOrigin)), 5, 'and a new one');
});

t.test('a stream above the limit is refused and not recorded', async (t) => {
  const simulator = await simulate(t, { maxConcurrentStreams: 2, silentShare: 1 });
  const headers = await apnsHeaders(simulator.accounts, apnsToken(1));
  const session = open(t, simulator, simulator.apnsOrigin);
  // Before its settings are known a client may be wrong about the limit, and node's sends at once.
  const streams = Array.from({ length: 3 }, () =>
    session.request({ ':method': 'POST', ...headers }),
  );
  for (const stream of streams) stream.end(BODY);
  const [error] = await once(streams[2] ?? session, 'error');
  t.match(error.message, REFUSED_STREAM);
  for (const stream of streams.slice(0, 2)) stream.on('error', () => undefined);
  const received = `GET /received/apns/${apnsToken(1)}`;
  while ((await control<{ count: number }>(simulator, received)).json.count < 2);
  t.match((await control(simulator, received)).json, { count: 2, rejected: { Unanswered: 2 } });
});

t.test('an answer with a body ends in an empty DATA frame', async (t) => {
  const simulator = await simulate(t);
  const frames = await askRaw(simulator);
  const data = frames.filter((frame) => frame.type === 'DATA');
  t.equal(data.length, 2);
  t.ok(
    (data[0]?.bytes ?? 0) > 0 && data[0]?.endsStream === false,
    'the body does not end the stream',
  );
  t.match(data[1], { bytes: 0, endsStream: true });
});

interface Frame {
  readonly type: 'DATA' | 'other';
  readonly bytes: number;
  readonly endsStream: boolean;
}

/**
 * GETs a path that FCM does not have, by hand, and returns the frames that came until the stream
 * ended.
 */
async function askRaw(simulator: Simulator): Promise<readonly Frame[]> {
  const { hostname, port } = new URL(simulator.fcmOrigin);
  const socket = connectTls({
    host: hostname,
    port: Number(port),
    ca: simulator.certificatePem,
    ALPNProtocols: ['h2'],
  });
  await once(socket, 'secureConnect');
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  // HEADERS with END_STREAM and END_HEADERS; from HPACK's static table :method GET, :scheme https,
  // :path /, and the name :authority, of value `a`.
  socket.write(Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x82, 0x87, 0x84, 0x41, 1, 0x61]));
  const frames: Frame[] = [];
  let unread = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    unread = Buffer.concat([unread, chunk]);
    while (unread.length >= 9 && unread.length >= 9 + unread.readUIntBE(0, 3)) {
      const bytes = unread.readUIntBE(0, 3);
      const isReset = unread[3] === 3;
      const endsStream = ((unread[4] ?? 0) & 1) === 1 && unread.readUInt32BE(5) === 1;
      frames.push({ type: unread[3] === 0 ? 'DATA' : 'other', bytes, endsStream });
      unread = unread.subarray(9 + bytes);
      if (endsStream || isReset) return frames;
    }
  }
  return frames;
}
