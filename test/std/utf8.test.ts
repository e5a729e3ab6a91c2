import { gzipSync } from 'node:zlib';
import t from 'tap';
import { withoutMark } from '../../packages/std/src/json.ts';
import { decodeUtf8 } from '../../src/std/utf8.ts';

const before = (octets: Buffer): string | null => {
  const decoded = decodeUtf8(octets);
  return decoded.ok ? null : decoded.before;
};

t.test('text in UTF-8, with and without a byte order mark', (t) => {
  for (const text of ['', '{}', 'Tör', '日本 🎉', 'a\u{fffd}b', '\u{0}']) {
    t.strictSame(decodeUtf8(Buffer.from(text)), { ok: true, text });
    t.strictSame(decodeUtf8(Buffer.from(`\u{feff}${text}`)), { ok: true, text }, 'with a mark');
    t.equal(withoutMark(`\u{feff}${text}`), text);
  }
  t.equal(withoutMark('a\u{feff}'), 'a\u{feff}', 'elsewhere it stays');
  t.end();
});

t.test('where it stops being UTF-8', (t) => {
  t.equal(before(Buffer.from('T\u{f6}r', 'latin1')), 'T');
  t.equal(before(Buffer.from([0x54, 0xc3, 0xb6, 0xf6])), 'Tö');
  t.equal(before(Buffer.from([0xff])), '');
  t.equal(before(Buffer.from([0x61, 0xef, 0xbf, 0x41])), 'a', 'a sequence that is cut');
  t.equal(before(Buffer.from([0x61, 0xf0, 0x9f, 0x8e])), 'a', 'at the end');
  t.equal(before(Buffer.from([0x61, 0xed, 0xa0, 0x80])), 'a', 'half a surrogate pair');
  t.equal(before(Buffer.from([0xef, 0xbf, 0xbd, 0xc0, 0x80])), '\u{fffd}', 'behind a true U+FFFD');
  t.equal(before(Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0x80])), 'a', 'behind a mark');
  t.end();
});

t.test('what it may be instead', (t) => {
  const hint = (octets: Buffer) => {
    const decoded = decodeUtf8(octets);
    return decoded.ok ? '' : decoded.hint;
  };
  t.match(hint(Buffer.from('\u{feff}{"a":1}', 'utf16le')), /UTF-16/);
  t.match(hint(gzipSync('{}')), /gzip/);
  t.match(hint(Buffer.from('T\u{f6}r', 'latin1')), /Windows-1252/);
  t.end();
});
