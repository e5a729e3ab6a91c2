import * as fc from 'fast-check';
import t from 'tap';
import {
  fieldBlockOctets,
  PartialFieldBlock,
  writeFieldBlock,
} from '../../../../packages/http2/src/codec/field-block.ts';
import type { HandedFrame } from '../frame/vectors.ts';
import { frameOf, goodVectors, handed, text } from '../frame/vectors.ts';

const BLOCK = Buffer.from(Array.from({ length: 5_000 }, (_, i) => i % 251));

/** The block written for a peer that takes frames of so many octets. */
function written(block: Buffer, frameOctetsMax: number, isEndStream: boolean): Buffer {
  const octets = fieldBlockOctets(block.length, frameOctetsMax);
  const into = Buffer.alloc(octets + 2, 0xee);
  const behind = writeFieldBlock(into, 1, block, { streamId: 7, isEndStream, frameOctetsMax });
  if (behind !== octets + 1 || into[0] !== 0xee || into[behind] !== 0xee) {
    throw new Error('not as many octets as were said');
  }
  return into.subarray(1, behind);
}

/** Put together again. */
function joined(frames: readonly HandedFrame[]): Buffer {
  const [first, ...others] = frames;
  if (first === undefined) throw new Error('no frame');
  const partial = new PartialFieldBlock(7, false, first.bytes, first);
  for (const other of others) partial.append(other.bytes, other);
  return partial.whole();
}

for (const { name, wire, flags, streamId, payload } of goodVectors('continuation')) {
  t.test(name, (t) => {
    const frame = frameOf(wire);
    t.match(frame, { type: 9, flags, streamId });
    t.equal(text(frame.bytes, frame), payload['header_block_fragment']);
    const partial = new PartialFieldBlock(streamId, false, Buffer.from('<'), { start: 0, end: 1 });
    partial.append(frame.bytes, frame);
    t.equal(partial.whole().toString('latin1'), `<${payload['header_block_fragment']}`);
    t.end();
  });
}

t.test('cut for each size of frame, and put together again', (t) => {
  const ofAnySize = fc.integer({ min: 1, max: 6_000 });
  void fc.assert(
    fc.property(ofAnySize, fc.nat(BLOCK.length), fc.boolean(), (frameOctetsMax, octets, isEnd) => {
      const block = BLOCK.subarray(0, octets);
      if (octets / frameOctetsMax > 16) return;
      const frames = handed(written(block, frameOctetsMax, isEnd));
      t.equal(frames.length, Math.max(1, Math.ceil(octets / frameOctetsMax)));
      for (const [i, { type, flags, streamId, start, end }] of frames.entries()) {
        const isLast = i === frames.length - 1;
        const endStream = i === 0 && isEnd ? 1 : 0;
        const expected = [i === 0 ? 1 : 9, endStream | (isLast ? 4 : 0), 7];
        t.same([type, flags, streamId], expected);
        t.ok(isLast || end - start === frameOctetsMax, 'no frame shorter than need be');
      }
      t.ok(joined(frames).equals(block));
    }),
    { numRuns: 300 },
  );
  t.end();
});

t.test('an empty block is one frame', (t) => {
  const [frame] = handed(written(Buffer.alloc(0), 16_384, true));
  t.match(frame, { type: 1, flags: 5 });
  t.end();
});

t.test('exactly one frame, and one octet more', (t) => {
  t.equal(handed(written(BLOCK, BLOCK.length, false)).length, 1);
  t.equal(handed(written(BLOCK, BLOCK.length - 1, false)).length, 2);
  t.end();
});

t.test('fragments are copies', (t) => {
  const bytes = Buffer.from('abcdef');
  const partial = new PartialFieldBlock(1, true, bytes, { start: 1, end: 3 });
  bytes.fill('x', 0, 4);
  partial.append(bytes, { start: 4, end: 5 });
  bytes.fill('x');
  t.equal(partial.whole().toString(), 'bce');
  t.match(partial, { streamId: 1, isEndStream: true });
  t.end();
});

t.test('a block without end is ENHANCE_YOUR_CALM', (t) => {
  const calm = { name: 'ConnectionError', code: 11 };
  const bytes = Buffer.alloc(65_537);
  const large = new PartialFieldBlock(1, false, bytes, { start: 0, end: 65_535 });
  large.append(bytes, { start: 0, end: 1 });
  t.equal(large.whole().length, 65_536);
  t.throws(() => large.append(bytes, { start: 0, end: 1 }), calm, 'too many octets');
  const empty = new PartialFieldBlock(1, false, bytes, { start: 0, end: 0 });
  for (let i = 0; i < 16; i += 1) empty.append(bytes, { start: 0, end: 0 });
  t.throws(() => empty.append(bytes, { start: 0, end: 0 }), calm, 'too many frames');
  t.end();
});
