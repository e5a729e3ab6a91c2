import t from 'tap';
import { loadPushPromise } from '../../../../packages/http2/src/frame/push-promise.ts';
import { badVectors, codeOf, frameOf, goodVectors, text } from './vectors.ts';

for (const { name, wire, flags, streamId, payload } of goodVectors('push_promise')) {
  t.test(name, (t) => {
    const frame = frameOf(wire);
    t.match(frame, { type: 5, flags, streamId });
    const { promisedStreamId, fragment } = loadPushPromise(
      frame.flags,
      frame.streamId,
      frame.bytes,
      frame.start,
      frame.end,
    );
    t.equal(promisedStreamId, payload['promised_stream_id']);
    t.equal(text(frame.bytes, fragment), payload['header_block_fragment']);
    t.equal(frame.bytes.toString('latin1', fragment.end, frame.end), payload['padding']);
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('push_promise')) {
  t.test(name, (t) => {
    const { flags, streamId, bytes, start, end } = frameOf(wire);
    const code = codeOf(() => loadPushPromise(flags, streamId, bytes, start, end));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('too short for the promised stream is a FRAME_SIZE_ERROR', (t) => {
  t.equal(
    codeOf(() => loadPushPromise(0, 1, Buffer.from([0, 0, 0, 2]), 0, 3)),
    6,
  );
  t.equal(
    codeOf(() => loadPushPromise(0, 1, Buffer.from([0, 0, 0, 2]), 0, 4)),
    null,
  );
  t.end();
});
