/**
 * Frames split anywhere across reads: long conversations that hold every type of frame, played once
 * for each octet at which they can be cut in two, with the same outcome each time.
 */

import { block, indexed, inserted, sizeUpdate } from '../../../support/http2/blocks.ts';
import { conversation } from '../../../support/http2/conversation.ts';
import {
  Code,
  continuation,
  data,
  END_HEADERS,
  END_STREAM,
  frame,
  goAway,
  headers,
  headersOf,
  Id,
  padded,
  ping,
  pingAck,
  prioritized,
  priority,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from '../../../support/http2/frames.ts';
import { GET, POST, postOf } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;

conversation(
  'frames: split at every octet, all types in one lawful conversation',
  async ({ t, peer, client }) => {
    await peer.expectPreface();
    peer.send(
      settings([Id.MAX_CONCURRENT_STREAMS, 10], [Id.INITIAL_WINDOW_SIZE, 12], [0xabcd, 1]),
      settingsAck,
    );
    await peer.expect(settingsAck);
    const sent = [];
    for (const form of [POST, GET, postOf(20), GET, GET]) sent.push(await client.request(form));
    await peer.expectRequest();
    await peer.expectRequest();
    await peer.expectRequestHead();
    await peer.expect(data(5, 'x'.repeat(12)));
    await peer.expectRequest();
    await peer.expectRequest();

    peer.send(windowUpdate(0, 1_000), windowUpdate(5, 8));
    await peer.expect(data(5, 'x'.repeat(8), END_STREAM));
    peer.send(ping('01234567'));
    await peer.expect(pingAck('01234567'));
    const answer = block([...OK, ['apns-id', 'A']]);
    peer.send(
      headersOf(1, Buffer.concat([sizeUpdate(4_096), indexed(8), inserted('x', 'y')]), END_HEADERS),
      priority(1),
      padded(data(1, '{"a":'), 5),
      frame(0xfa, 0xff, 7, 'unknown'),
      data(1, '1}'),
      data(1, ''),
      headersOf(1, block([['trailer', 'z']]), END_HEADERS | END_STREAM),
      padded(prioritized(headers(3, [[':status', '103']])), 3),
      headersOf(3, answer.subarray(0, 4), END_STREAM),
      continuation(3, answer.subarray(4, 9)),
      continuation(3, Buffer.alloc(0)),
      continuation(3, answer.subarray(9), END_HEADERS),
      rstStream(5, Code.REFUSED_STREAM),
      goAway(7, Code.NO_ERROR, '{"reason":"Shutdown"}'),
      headersOf(7, Buffer.concat([indexed(8), indexed(62)]), END_HEADERS | END_STREAM),
    );
    const [first, second, third, fourth, fifth] = await Promise.all(sent.map(({ end }) => end));
    t.match(first, { fields: { x: 'y' }, body: '{"a":1}', trailers: { trailer: 'z' } });
    t.match(second, { status: 200, fields: { 'apns-id': 'A' } });
    t.match(third, { kind: 'failed', isUnprocessed: true, reason: 'REFUSED_STREAM' });
    t.match(fourth, { status: 200, fields: { x: 'y' } });
    t.match(fifth, { isUnprocessed: true, reason: 'GOAWAY NO_ERROR {"reason":"Shutdown"}' });
    await peer.expectFarewell();
  },
  { deliveries: 'every-cut' },
);

conversation(
  'frames: split at every octet, answers that fail and an error at the end',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = [];
    for (let i = 0; i < 5; i += 1) sent.push(await client.request(GET));
    for (let i = 0; i < 5; i += 1) await peer.expectRequest();
    peer.send(
      headers(1, [['server', 'x']]),
      headers(3, [...OK, ['content-length', '3']]),
      data(3, 'ab', END_STREAM),
      windowUpdate(5, 0),
      headers(7, OK),
      padded(data(7, 'x'), 200),
      rstStream(7, Code.INTERNAL_ERROR),
    );
    for (const [streamId, code] of [
      [1, Code.PROTOCOL_ERROR],
      [3, Code.PROTOCOL_ERROR],
      [5, Code.PROTOCOL_ERROR],
    ] as const) {
      await peer.expect(rstStream(streamId, code));
    }
    peer.send(headersOf(9, Buffer.from([0x88, 0xff, 0x80, 0x80, 0x80, 0x80, 0x80]), END_HEADERS));
    await peer.expectGoAway(Code.COMPRESSION_ERROR);
    const ends = await Promise.all(sent.map(({ end }) => end));
    for (const end of ends) t.match(end, { kind: 'failed', isUnprocessed: false });
    t.match(ends[3], { status: 200, reason: 'INTERNAL_ERROR' });
  },
  { deliveries: 'every-cut' },
);
