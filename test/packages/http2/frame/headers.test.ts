import t from 'tap';
import { writeFieldBlock } from '../../../../packages/http2/src/codec/field-block.ts';
import { Flag } from '../../../../packages/http2/src/frame/head.ts';
import { loadHeaders } from '../../../../packages/http2/src/frame/headers.ts';
import { badVectors, codeOf, frameOf, goodVectors, text } from './vectors.ts';

for (const { name, wire, flags, streamId, payload } of goodVectors('headers')) {
  t.test(name, (t) => {
    const frame = frameOf(wire);
    t.match(frame, { type: 1, flags, streamId });
    const { fragment, priority } = loadHeaders(
      frame.flags,
      frame.streamId,
      frame.bytes,
      frame.start,
      frame.end,
    );
    t.equal(text(frame.bytes, fragment), payload['header_block_fragment']);
    t.equal(frame.end - fragment.end, payload['padding_length'] ?? 0);
    t.equal(frame.bytes.toString('latin1', fragment.end, frame.end), payload['padding'] ?? '');
    t.same(
      priority,
      payload['weight'] === null
        ? null
        : {
            isExclusive: payload['exclusive'],
            streamDependency: payload['stream_dependency'],
            weight: payload['weight'],
          },
    );
    t.end();
  });
}

t.test('headers/normal.json, written', (t) => {
  for (const { wire, streamId, payload } of goodVectors('headers')) {
    if (payload['padding'] !== null) continue;
    const into = Buffer.alloc(wire.length);
    const block = Buffer.from(String(payload['header_block_fragment']));
    const options = { streamId, isEndStream: false, frameOctetsMax: 16_384 };
    t.equal(writeFieldBlock(into, 0, block, options), wire.length);
    t.same(into, wire);
  }
  t.end();
});

for (const { name, wire, codes } of badVectors('headers')) {
  t.test(name, (t) => {
    const { flags, streamId, bytes, start, end } = frameOf(wire);
    const code = codeOf(() => loadHeaders(flags, streamId, bytes, start, end));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('too short for the priority that its flag promises is a FRAME_SIZE_ERROR', (t) => {
  const bytes = Buffer.from([3, 1, 2, 3, 4, 5, 6, 7, 8]);
  const load = (flags: number, end: number) => codeOf(() => loadHeaders(flags, 1, bytes, 0, end));
  t.equal(load(Flag.PRIORITY, 4), 6);
  t.equal(load(Flag.PRIORITY, 5), null, 'an empty fragment');
  t.equal(load(Flag.PRIORITY | Flag.PADDED, 8), 6, 'five octets less by the padding');
  t.equal(load(Flag.PRIORITY | Flag.PADDED, 9), null);
  t.end();
});
