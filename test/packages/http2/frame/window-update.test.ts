import t from 'tap';
import { StreamError } from '../../../../packages/http2/src/error.ts';
import {
  loadWindowUpdate,
  WINDOW_UPDATE_OCTETS,
  writeWindowUpdate,
} from '../../../../packages/http2/src/frame/window-update.ts';
import { badVectors, codeOf, frameOf, goodVectors } from './vectors.ts';

const load = (wire: Buffer): number => {
  const { streamId, bytes, start, end } = frameOf(wire);
  return loadWindowUpdate(streamId, bytes, start, end);
};

for (const { name, wire, flags, streamId, payload } of goodVectors('window_update')) {
  t.test(name, (t) => {
    t.match(frameOf(wire), { type: 8, flags, streamId });
    t.equal(load(wire), payload['window_size_increment']);
    const written = Buffer.alloc(WINDOW_UPDATE_OCTETS);
    t.equal(writeWindowUpdate(written, 0, streamId, load(wire)), WINDOW_UPDATE_OCTETS);
    t.same(written, wire);
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('window_update')) {
  t.test(name, (t) => {
    const code = codeOf(() => load(wire));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('an increment of 0 is the error of its stream, or of the connection', (t) => {
  const zero = (streamId: number): Buffer => {
    const wire = Buffer.alloc(WINDOW_UPDATE_OCTETS);
    writeWindowUpdate(wire, 0, streamId, 0);
    return wire;
  };
  t.throws(() => load(zero(3)), new StreamError(3, 1, 'WINDOW_UPDATE of 0'));
  t.throws(() => load(zero(0)), { name: 'ConnectionError', code: 1 });
  const reserved = zero(3);
  reserved[9] = 0x80;
  t.throws(() => load(reserved), { name: 'StreamError' }, 'the reserved bit does not count');
  t.end();
});
