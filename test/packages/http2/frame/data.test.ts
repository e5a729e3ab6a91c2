import t from 'tap';
import { loadData, writeData } from '../../../../packages/http2/src/frame/data.ts';
import { badVectors, codeOf, frameOf, goodVectors, text } from './vectors.ts';

for (const { name, wire, flags, streamId, payload } of goodVectors('data')) {
  t.test(name, (t) => {
    const frame = frameOf(wire);
    t.match(frame, { type: 0, flags, streamId });
    const content = loadData(frame.flags, frame.streamId, frame.bytes, frame.start, frame.end);
    t.equal(text(frame.bytes, content), payload['data']);
    t.equal(frame.end - content.end, payload['padding_length']);
    t.equal(frame.bytes.toString('latin1', content.end, frame.end), payload['padding']);
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('data')) {
  t.test(name, (t) => {
    const code = codeOf(() => {
      const { flags, streamId, bytes, start, end } = frameOf(wire);
      loadData(flags, streamId, bytes, start, end);
    });
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('what is written is read', (t) => {
  for (const isEndStream of [false, true]) {
    for (const content of ['', 'x', 'x'.repeat(16_384)]) {
      const bytes = Buffer.from(`<${content}>`);
      const into = Buffer.alloc(9 + content.length + 1, 0xee);
      const behind = writeData(
        into,
        0,
        0x7fff_fffd,
        { bytes, start: 1, end: 1 + content.length },
        isEndStream,
      );
      t.equal(behind, 9 + content.length);
      t.equal(into[behind], 0xee, 'nothing behind it');
      const frame = frameOf(into.subarray(0, behind));
      t.match(frame, { type: 0, flags: isEndStream ? 1 : 0, streamId: 0x7fff_fffd });
      t.equal(text(frame.bytes, frame), content);
    }
  }
  t.end();
});

t.test('at an offset', (t) => {
  const into = Buffer.alloc(30);
  const content = { bytes: Buffer.from('abc'), start: 0, end: 3 };
  t.equal(writeData(into, 5, 1, content, true), 17);
  t.equal(into.subarray(5, 17).toString('hex'), '000003000100000001616263');
  t.end();
});
