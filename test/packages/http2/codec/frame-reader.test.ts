import * as fc from 'fast-check';
import t from 'tap';
import { FrameReader } from '../../../../packages/http2/src/codec/frame-reader.ts';
import { FRAME_HEAD_OCTETS } from '../../../../packages/http2/src/frame/head.ts';
import type { Frame } from '../../../support/http2/frames.ts';
import { frame, octetsOf } from '../../../support/http2/frames.ts';

const NO_PREFACE = Buffer.alloc(0);

/** A reader, and copies of what it has handed on. */
function recorded(preface = NO_PREFACE) {
  const frames: Frame[] = [];
  const reader = new FrameReader(
    {
      receiveFrame: (type, flags, streamId, bytes, start, end) =>
        frames.push({ type, flags, streamId, payload: Buffer.from(bytes.subarray(start, end)) }),
    },
    preface,
  );
  return { reader, frames };
}

/** Cuts octets after each of the given lengths, over and over. */
function* pieces(octets: Buffer, lengths: readonly number[]): Generator<Buffer> {
  for (let at = 0, i = 0; at < octets.length; i += 1) {
    const end = Math.min(octets.length, at + Math.max(1, lengths[i % lengths.length] ?? 1));
    yield Buffer.from(octets.subarray(at, end));
    at = end;
  }
}

const FRAMES: readonly Frame[] = [
  frame(4, 0, 0),
  frame(0, 1, 3, 'hello'),
  frame(0xfa, 0xff, 2 ** 31 - 1, 'x'),
  frame(8, 0, 0, Buffer.from([0, 0, 0, 1])),
  frame(0, 0, 5, Buffer.alloc(300, 'y')),
  frame(6, 1, 0, 'deadbeef'),
];
const WIRE = Buffer.concat(FRAMES.map((one) => octetsOf(one)));

t.test('one chunk, octet by octet, and cut at every octet: the same frames', (t) => {
  const whole = recorded();
  whole.reader.read(WIRE);
  t.same(whole.frames, FRAMES);
  const apart = recorded();
  for (const octet of pieces(WIRE, [1])) apart.reader.read(octet);
  t.same(apart.frames, FRAMES);
  for (let at = 1; at < WIRE.length; at += 1) {
    const cut = recorded();
    cut.reader.read(WIRE.subarray(0, at));
    cut.reader.read(WIRE.subarray(at));
    t.same(cut.frames, FRAMES, `cut at ${at}`);
  }
  t.end();
});

t.test('any frames in any chunks', (t) => {
  const someFrames = fc.array(
    fc.record({
      type: fc.nat(255),
      flags: fc.nat(255),
      streamId: fc.nat(2 ** 31 - 1),
      payload: fc
        .oneof(fc.nat(20), fc.nat(16_384), fc.constantFrom(0, 16_383, 16_384))
        .chain((length) => fc.nat(255).map((fill) => Buffer.alloc(length, fill))),
    }),
    { maxLength: 8 },
  );
  const lengths = fc.array(fc.oneof(fc.nat(12), fc.nat(40_000)), { minLength: 1, maxLength: 9 });
  void fc.assert(
    fc.property(someFrames, lengths, (frames, lengths) => {
      const read = recorded();
      for (const piece of pieces(Buffer.concat(frames.map((one) => octetsOf(one))), lengths)) {
        read.reader.read(piece);
      }
      return (
        read.frames.length === frames.length &&
        read.frames.every((one, i) => octetsOf(one).equals(octetsOf(frames[i] ?? Buffer.alloc(0))))
      );
    }),
  );
  t.end();
});

t.test('16,384 octets are a frame; one more is an error as soon as its head is there', (t) => {
  const longest = octetsOf(frame(0, 0, 1, Buffer.alloc(16_384, 'z')));
  for (const size of [longest.length, 1_000, 7]) {
    const { reader, frames } = recorded();
    for (const piece of pieces(longest, [size])) reader.read(piece);
    t.equal(frames[0]?.payload.length, 16_384);
  }
  const head = octetsOf(frame(0, 0, 1), 16_385);
  const error = { name: 'ConnectionError', code: 6 };
  t.throws(() => recorded().reader.read(head), error, 'in one chunk');
  const apart = recorded().reader;
  apart.read(head.subarray(0, FRAME_HEAD_OCTETS - 1));
  t.throws(() => apart.read(head.subarray(FRAME_HEAD_OCTETS - 1)), error, 'in two');
  const behind = recorded();
  t.throws(() => behind.reader.read(Buffer.concat([WIRE, head])), error, 'behind others');
  t.same(behind.frames, FRAMES, 'which were handed on');
  t.end();
});

t.test('what is not whole is kept, not handed on', (t) => {
  const { reader, frames } = recorded();
  const wire = octetsOf(frame(0, 0, 1, Buffer.alloc(1_000, 'w')));
  for (const piece of pieces(wire.subarray(0, -1), [10])) reader.read(piece);
  t.same(frames, []);
  reader.read(wire.subarray(-1));
  t.equal(frames.length, 1);
  t.end();
});

t.test('the chunk may be used again by its owner', (t) => {
  const { reader, frames } = recorded();
  for (const piece of pieces(WIRE, [11])) {
    reader.read(piece);
    piece.fill(0xee);
  }
  t.same(frames, FRAMES);
  t.end();
});

t.test('the reserved bit of the stream is ignored', (t) => {
  const { reader, frames } = recorded();
  const wire = octetsOf(frame(0, 0, 5));
  wire[5] = 0x80;
  reader.read(wire);
  t.equal(frames[0]?.streamId, 5);
  t.end();
});

t.test('what the handler throws comes out of read', (t) => {
  const reader = new FrameReader(
    {
      receiveFrame: () => {
        throw new Error('no');
      },
    },
    NO_PREFACE,
  );
  t.throws(() => reader.read(WIRE), { message: 'no' });
  t.end();
});

t.test('a preface before the first frame', (t) => {
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const wire = Buffer.concat([preface, WIRE]);
  for (const size of [1, 5, preface.length, preface.length + 4, wire.length]) {
    const { reader, frames } = recorded(preface);
    for (const piece of pieces(wire, [size])) reader.read(piece);
    t.same(frames, FRAMES, `in chunks of ${size}`);
  }
  for (let at = 0; at < preface.length; at += 1) {
    const wrong = Buffer.from(preface);
    wrong[at] = 0;
    const error = { name: 'ConnectionError', code: 1 };
    t.throws(() => recorded(preface).reader.read(wrong.subarray(0, at + 1)), error);
  }
  t.end();
});
