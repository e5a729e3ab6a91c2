import t from 'tap';
import { goAwayFrame, loadGoAway } from '../../../../packages/http2/src/frame/go-away.ts';
import { badVectors, codeOf, frameOf, goodVectors } from './vectors.ts';

const load = (wire: Buffer) => {
  const { streamId, bytes, start, end } = frameOf(wire);
  return loadGoAway(streamId, bytes, start, end);
};

for (const { name, wire, flags, streamId, payload } of goodVectors('goaway')) {
  t.test(name, (t) => {
    t.match(frameOf(wire), { type: 7, flags, streamId });
    const goAway = load(wire);
    t.equal(goAway.lastStreamId, payload['last_stream_id']);
    t.equal(goAway.code, payload['error_code']);
    t.equal(goAway.debugData.toString(), payload['additional_debug_data']);
    t.same(goAwayFrame(goAway), wire);
    t.end();
  });
}

for (const { name, wire, codes } of badVectors('goaway')) {
  t.test(name, (t) => {
    const code = codeOf(() => load(wire));
    t.ok(codes.includes(code ?? -1), `${code}`);
    t.end();
  });
}

t.test('debug data is a copy, and cut', (t) => {
  const whole = { lastStreamId: 2 ** 31 - 1, code: 2 ** 32 - 1, debugData: Buffer.alloc(600, 'x') };
  const wire = goAwayFrame(whole);
  const goAway = load(wire);
  wire.fill(0);
  t.equal(goAway.lastStreamId, 2 ** 31 - 1);
  t.equal(goAway.code, 2 ** 32 - 1);
  t.equal(goAway.debugData.toString(), 'x'.repeat(512));
  t.end();
});

t.test('the reserved bit is no part of the last stream', (t) => {
  const wire = goAwayFrame({ lastStreamId: 5, code: 0, debugData: Buffer.alloc(0) });
  wire[9] = 0x80;
  t.equal(load(wire).lastStreamId, 5);
  t.end();
});
