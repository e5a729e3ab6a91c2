import t from 'tap';
import { StreamError } from '../../../../packages/http2/src/error.ts';
import { loadPriority } from '../../../../packages/http2/src/frame/priority.ts';
import { badVectors, codeOf, frameOf, goodVectors } from './vectors.ts';

for (const { name, wire, flags, streamId, payload } of goodVectors('priority')) {
  t.test(name, (t) => {
    const frame = frameOf(wire);
    t.match(frame, { type: 2, flags, streamId });
    t.same(loadPriority(frame.streamId, frame.bytes, frame.start, frame.end), {
      isExclusive: payload['exclusive'],
      streamDependency: payload['stream_dependency'],
      weight: payload['weight'],
    });
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('priority')) {
  t.test(name, (t) => {
    const { streamId, bytes, start, end } = frameOf(wire);
    const code = codeOf(() => loadPriority(streamId, bytes, start, end));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('a wrong size is the error of the stream alone', (t) => {
  for (const octets of [0, 4, 6]) {
    const error = (() => {
      try {
        return loadPriority(7, Buffer.alloc(6), 0, octets);
      } catch (thrown) {
        return thrown;
      }
    })();
    t.type(error, StreamError);
    t.match(error, { streamId: 7, code: 6 });
  }
  t.end();
});
