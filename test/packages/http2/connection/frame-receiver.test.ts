import t from 'tap';
import { FrameReader } from '../../../../packages/http2/src/codec/frame-reader.ts';
import { FrameReceiver } from '../../../../packages/http2/src/connection/frame-receiver.ts';
import { block, indexed, inserted, sizeUpdate } from '../../../support/http2/blocks.ts';
import type { Octets } from '../../../support/http2/frames.ts';
import * as frames from '../../../support/http2/frames.ts';
import { BAD_VECTORS, codeOf } from '../frame/vectors.ts';

const { END_HEADERS, END_STREAM, frame, octetsOf, Type } = frames;

/** A receiver with its reader, and its calls. */
function recorded() {
  const events: unknown[][] = [];
  const note =
    (name: string) =>
    (...values: unknown[]): void => {
      events.push([name, ...values]);
    };
  const receiver = new FrameReceiver({
    isDeaf: false,
    streamError: (error) => {
      throw error;
    },
    fields: (streamId, { fields, isTooLarge }, isEndStream) => {
      const pairs = fields.map(({ name, value }) => `${name}: ${value}`);
      events.push(['fields', streamId, isTooLarge ? 'too large' : pairs, isEndStream]);
    },
    data: (streamId, bytes, { start, end }, flowOctets, isEndStream) => {
      events.push([
        'data',
        streamId,
        bytes.toString('latin1', start, end),
        flowOctets,
        isEndStream,
      ]);
    },
    ping: (opaqueData) => events.push(['ping', opaqueData.toString()]),
    goAway: ({ lastStreamId, code, debugData }) =>
      events.push(['goAway', lastStreamId, code, debugData.toString()]),
    rstStream: note('rstStream'),
    settings: note('settings'),
    settingsAcknowledged: note('settingsAcknowledged'),
    pingAcknowledged: note('pingAcknowledged'),
    windowUpdate: note('windowUpdate'),
    ignored: note('ignored'),
  });
  const reader = new FrameReader(receiver, Buffer.alloc(0));
  const receive = (...octets: readonly Octets[]): void => {
    for (const one of octets) reader.read(octetsOf(one));
  };
  return { events, receive };
}

/** One whose peer has sent its SETTINGS. */
function started() {
  const { events, receive } = recorded();
  receive(frames.settings());
  events.length = 0;
  return { events, receive };
}

const PROTOCOL_ERROR = { name: 'ConnectionError', code: 1 };

for (const { name, wire, codes } of BAD_VECTORS) {
  t.test(name, (t) => {
    const { events, receive } = started();
    const code = codeOf(() => receive(wire));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.same(events, [], 'nobody hears of it');
    t.end();
  });
}

t.test('each frame is its event', (t) => {
  const { events, receive } = started();
  receive(
    frames.settings([3, 1], [99, 2]),
    frames.settingsAck,
    frames.headers(1, [[':status', '200']], END_STREAM),
    frames.padded(frames.prioritized(frames.headers(3, [['a', 'b']])), 4),
    frames.data(1, 'abc'),
    frames.padded(frames.data(1, 'abc', END_STREAM), 5),
    frames.rstStream(5, 8),
    frames.ping('deadbeef'),
    frames.pingAck('deadbeef'),
    frames.goAway(7, 2, 'bye'),
    frames.windowUpdate(0, 1),
    frames.windowUpdate(9, 2 ** 31 - 1),
    frames.priority(1),
    frame(0xfe, 0xff, 77, 'anything'),
  );
  t.same(events, [
    [
      'settings',
      [
        [3, 1],
        [99, 2],
      ],
    ],
    ['settingsAcknowledged'],
    ['fields', 1, [':status: 200'], true],
    ['fields', 3, ['a: b'], false],
    ['data', 1, 'abc', 3, false],
    ['data', 1, 'abc', 9, true],
    ['rstStream', 5, 8],
    ['ping', 'deadbeef'],
    ['pingAcknowledged'],
    ['goAway', 7, 2, 'bye'],
    ['windowUpdate', 0, 1],
    ['windowUpdate', 9, 2 ** 31 - 1],
    ['ignored'],
    ['ignored'],
  ]);
  t.end();
});

t.test('SETTINGS come first (3.4)', (t) => {
  for (const type of Object.values(Type)) {
    if (type === Type.SETTINGS) continue;
    const first = frame(type, 0, 1, Buffer.alloc(8));
    t.throws(() => recorded().receive(first), PROTOCOL_ERROR, `type ${type}`);
  }
  t.throws(() => recorded().receive(frames.settingsAck), PROTOCOL_ERROR, 'an acknowledgement');
  t.throws(() => recorded().receive(frame(0xfe, 0, 0)), PROTOCOL_ERROR, 'an unknown frame');
  t.end();
});

t.test('a field block in several frames', (t) => {
  const { events, receive } = started();
  const whole = block([
    ['a', 'b'],
    ['c', 'd'],
  ]);
  receive(
    frames.headersOf(1, whole.subarray(0, 2), END_STREAM),
    frames.continuation(1, whole.subarray(2, 2)),
    frames.continuation(1, whole.subarray(2, 7)),
  );
  t.same(events, []);
  receive(frames.continuation(1, whole.subarray(7), END_HEADERS));
  t.same(events, [['fields', 1, ['a: b', 'c: d'], true]]);
  t.end();
});

t.test('nothing comes between the frames of a field block (4.3)', (t) => {
  const others: readonly Octets[] = [
    frames.headers(1, [['a', 'b']]),
    frames.data(1, 'x'),
    frames.ping('deadbeef'),
    frames.settings(),
    frames.windowUpdate(0, 1),
    frames.rstStream(1, 0),
    frames.priority(1),
    frame(0xfe, 0, 0),
    frames.continuation(3, Buffer.alloc(0), END_HEADERS),
  ];
  for (const other of others) {
    const { events, receive } = started();
    receive(frames.headersOf(1, Buffer.alloc(0), 0));
    t.throws(() => receive(other), PROTOCOL_ERROR);
    t.same(events, []);
  }
  t.end();
});

t.test('CONTINUATION of nothing', (t) => {
  const alone = frames.continuation(1, Buffer.alloc(0), END_HEADERS);
  t.throws(() => started().receive(alone), PROTOCOL_ERROR);
  const { receive } = started();
  receive(frames.headers(1, []));
  t.throws(() => receive(alone), PROTOCOL_ERROR, 'after a whole block');
  t.end();
});

t.test('a block too long is ENHANCE_YOUR_CALM, not memory', (t) => {
  const { receive } = started();
  receive(frames.headersOf(1, Buffer.alloc(16_384), 0));
  for (let i = 0; i < 3; i += 1) receive(frames.continuation(1, Buffer.alloc(16_384)));
  t.throws(() => receive(frames.continuation(1, Buffer.alloc(1))), { code: 11 });
  t.end();
});

t.test('every block is decoded in order, whosever it is', (t) => {
  const { events, receive } = started();
  receive(
    frames.headersOf(2, inserted('a', 'b'), END_HEADERS),
    frames.headersOf(1, indexed(62), END_HEADERS),
  );
  t.same(events, [
    ['fields', 2, ['a: b'], false],
    ['fields', 1, ['a: b'], false],
  ]);
  t.end();
});

t.test('a block that cannot be decoded is COMPRESSION_ERROR', (t) => {
  const error = { name: 'ConnectionError', code: 9 };
  for (const bad of [indexed(62), sizeUpdate(4_097), Buffer.from([0x00, 0x05, 0x61])]) {
    t.throws(() => started().receive(frames.headersOf(1, bad, END_HEADERS)), error);
    const { receive } = started();
    receive(frames.headersOf(1, bad, 0));
    t.throws(() => receive(frames.continuation(1, Buffer.alloc(0), END_HEADERS)), error);
  }
  t.end();
});

t.test('a list above 65,536 octets comes without its fields', (t) => {
  const { events, receive } = started();
  const large = Buffer.concat([inserted('a', 'x'.repeat(4_000)), Buffer.alloc(17, 0xbe)]);
  receive(
    frames.headersOf(1, large, END_HEADERS),
    frames.headersOf(3, indexed(62), END_HEADERS | END_STREAM),
  );
  t.same(events, [
    ['fields', 1, 'too large', false],
    ['fields', 3, [`a: ${'x'.repeat(4_000)}`], true],
  ]);
  t.end();
});

t.test('PUSH_PROMISE is never right (6.6, 8.4)', (t) => {
  t.throws(() => started().receive(frames.pushPromise(1, 2, [['a', 'b']])), PROTOCOL_ERROR);
  t.end();
});
