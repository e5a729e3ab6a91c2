import * as fc from 'fast-check';
import t from 'tap';
import { Stream } from '../../../../packages/http2/src/stream/stream.ts';

t.test('content is kept as a copy, up to a limit over all of it', (t) => {
  const stream = new Stream();
  stream.open(1, 0);
  t.same(stream.content(), Buffer.alloc(0));
  const bytes = Buffer.from('abcdefgh');
  t.equal(stream.keep(bytes, 1, 4, 5), true);
  t.equal(stream.keep(bytes, 0, 0, 5), true, 'nothing');
  t.equal(stream.keep(bytes, 4, 8, 5), false);
  t.equal(stream.keep(bytes, 4, 5, 5), false);
  t.equal(stream.keep(bytes, 4, 4, 5), true, 'nothing was left out');
  bytes.fill('x');
  t.equal(stream.content().toString(), 'bcdef');
  t.equal(stream.contentOctets, 8, 'what was left out counts');
  t.end();
});

t.test('never more than the limit, always the beginning', (t) => {
  const pieces = fc.array(fc.nat(50), { maxLength: 20 });
  void fc.assert(
    fc.property(pieces, fc.nat(300), (pieces, octetsMax) => {
      const stream = new Stream();
      stream.open(1, 0);
      let at = 0;
      const all = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251));
      for (const octets of pieces) {
        const isWhole = stream.keep(all, at, at + octets, octetsMax);
        at += octets;
        if (isWhole !== (at <= octetsMax || octets === 0)) return false;
      }
      const kept = all.subarray(0, Math.min(at, octetsMax));
      return stream.content().equals(kept) && stream.contentOctets === at;
    }),
  );
  t.end();
});

t.test('content in many pieces is moved seldom: twice as many pieces cost twice as much', (t) => {
  const stream = new Stream();
  stream.open(1, 0);
  const piece = Buffer.alloc(16_384, 'a');
  const places = new Set<ArrayBufferLike>();
  const pieces = 2_000;
  for (let index = 0; index < pieces; index += 1) {
    stream.keep(piece, 0, piece.length, Number.MAX_SAFE_INTEGER);
    places.add(stream.content().buffer);
  }
  t.equal(stream.content().length, pieces * piece.length);
  t.ok(places.size <= 20, `${places.size} places`);
  t.end();
});

t.test('content-length', (t) => {
  const stream = new Stream();
  stream.open(1, 0);
  t.equal(stream.isAsLongAsSaid, true, 'nothing was said');
  t.equal(stream.wouldExceedSaid(1_000), false);
  stream.contentLength = 3;
  t.equal(stream.isAsLongAsSaid, false);
  t.same([stream.wouldExceedSaid(3), stream.wouldExceedSaid(4)], [false, true]);
  stream.keep(Buffer.from('abc'), 0, 3, 1);
  t.same([stream.wouldExceedSaid(0), stream.wouldExceedSaid(1)], [false, true]);
  t.equal(stream.isAsLongAsSaid, true, 'kept or not');
  stream.contentLength = 0;
  t.equal(stream.isAsLongAsSaid, false);
  t.end();
});

t.test('nothing is left for the next use', (t) => {
  const stream = new Stream();
  stream.open(1, 10);
  stream.pending = Buffer.from('abc');
  stream.contentLength = 3;
  stream.keep(Buffer.from('abc'), 0, 3, 10);
  stream.receiveWindow.take(65_535);
  stream.release();
  t.equal(stream.pending, null);
  t.equal(stream.content().length, 0);
  stream.open(3, 20);
  t.match(stream, { id: 3, sendWindow: 20, pending: null, contentLength: -1, contentOctets: 0 });
  t.equal(stream.receiveWindow.take(65_535), true);
  t.equal(stream.keep(Buffer.from('def'), 0, 3, 3), true);
  t.equal(stream.content().toString(), 'def');
  t.end();
});
