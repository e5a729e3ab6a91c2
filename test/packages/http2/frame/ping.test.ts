import t from 'tap';
import { loadPing, pingFrame } from '../../../../packages/http2/src/frame/ping.ts';
import { badVectors, codeOf, frameOf, goodVectors, text } from './vectors.ts';

for (const { name, wire, flags, streamId, payload } of goodVectors('ping')) {
  t.test(name, (t) => {
    const frame = frameOf(wire);
    t.match(frame, { type: 6, flags, streamId });
    loadPing(frame.streamId, frame.start, frame.end);
    t.equal(text(frame.bytes, frame), payload['opaque_data']);
    t.same(pingFrame(Buffer.from(text(frame.bytes, frame), 'latin1'), false), wire);
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('ping')) {
  t.test(name, (t) => {
    const { streamId, start, end } = frameOf(wire);
    const code = codeOf(() => loadPing(streamId, start, end));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('an acknowledgement carries the same octets', (t) => {
  const frame = frameOf(pingFrame(Buffer.from('deadbeef'), true));
  t.match(frame, { type: 6, flags: 1, streamId: 0 });
  t.equal(text(frame.bytes, frame), 'deadbeef');
  t.end();
});
