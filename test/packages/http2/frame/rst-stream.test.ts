import t from 'tap';
import {
  loadRstStream,
  RST_STREAM_OCTETS,
  writeRstStream,
} from '../../../../packages/http2/src/frame/rst-stream.ts';
import { badVectors, codeOf, frameOf, goodVectors } from './vectors.ts';

const load = (wire: Buffer): number => {
  const { streamId, bytes, start, end } = frameOf(wire);
  return loadRstStream(streamId, bytes, start, end);
};

for (const { name, wire, flags, streamId, payload } of goodVectors('rst_stream')) {
  t.test(name, (t) => {
    t.match(frameOf(wire), { type: 3, flags, streamId });
    t.equal(load(wire), payload['error_code']);
    const written = Buffer.alloc(RST_STREAM_OCTETS);
    t.equal(writeRstStream(written, 0, streamId, load(wire)), RST_STREAM_OCTETS);
    t.same(written, wire);
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('rst_stream')) {
  t.test(name, (t) => {
    const code = codeOf(() => load(wire));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('a code of all 32 bits', (t) => {
  const written = Buffer.alloc(RST_STREAM_OCTETS);
  writeRstStream(written, 0, 1, 2 ** 32 - 1);
  t.equal(load(written), 2 ** 32 - 1);
  t.end();
});
