/** Chunked bodies, whole and cut anywhere, and what is refused. */

import t from 'tap';
import { ChunkedBody } from '../../../packages/http1/src/chunked-body.ts';

/**
 * Reads `text` in pieces of so many bytes: the body and what came after it, or the status of the
 * refusal; null: it is not over.
 */
function read(text: string, pieceBytes: number): readonly [string, string] | number | null {
  const body = new ChunkedBody();
  const input = Buffer.from(text, 'latin1');
  let data = '';
  for (let at = 0; at < input.length; at += pieceBytes) {
    const part = body.read(input.subarray(at, at + pieceBytes));
    if ('status' in part) return part.status;
    data += part.data.toString('latin1');
    if (part.isOver) {
      return [data, part.rest.toString('latin1') + input.toString('latin1', at + pieceBytes)];
    }
  }
  return null;
}

const SIZES = [1, 2, 3, 7, 10_000];

t.test('bodies, extensions, trailers, and what comes behind', (t) => {
  const cases = [
    ['0\r\n\r\n', '', ''],
    ['3\r\nabc\r\n0\r\n\r\nGET', 'abc', 'GET'],
    ['3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n', 'abc0123456789', ''],
    ['00000003;x=1;y="z"\r\nabc\r\n000;a\r\nTrailer: x\r\nOther:\r\n\r\nnext', 'abc', 'next'],
    ['2\r\n\r\n\r\n0\r\n\r\n', '\r\n', ''],
  ] as const;
  for (const [text, body, rest] of cases) {
    for (const size of SIZES) t.same(read(text, size), [body, rest], `${text} by ${size}`);
  }
  t.equal(read('3\r\nabc\r\n', 3), null);
  t.end();
});

t.test('what is refused', (t) => {
  const cases: readonly (readonly [text: string, status: number])[] = [
    ['\r\n', 400],
    ['x\r\n', 400],
    ['-1\r\n', 400],
    ['0x3\r\nabc\r\n', 400],
    ['123456789\r\n', 400],
    [' 3\r\nabc\r\n', 400],
    ['3\nabc\r\n', 400],
    ['3\r\nabcd\r\n', 400],
    ['3\r\nabc\n0\r\n\r\n', 400],
    ['3;\x01\r\nabc\r\n', 400],
    ['3 ;x\r\nabc\r\n', 400],
    ['3;,=y\r\nabc\r\n', 400],
    ['3;x=y;\r\nabc\r\n', 400],
    ['0\r\nContent-Length: 3\r\n\r\n', 400],
    ['0\r\ntransfer-encoding: chunked\r\n\r\n', 400],
    ['0\r\nno trailer\r\n\r\n', 400],
    ['0\r\n folded: x\r\n\r\n', 400],
    [`3;${'x'.repeat(2_000)}`, 431],
    [`0\r\n${'A: b\r\n'.repeat(10_000)}\r\n`, 431],
    [`${`1;${'x'.repeat(1_000)}\r\na\r\n`.repeat(20)}0\r\n\r\n`, 431],
  ];
  for (const [text, status] of cases) {
    for (const size of SIZES) {
      t.equal(read(text, size), status, `${JSON.stringify(text.slice(0, 40))} by ${size}`);
    }
  }
  t.end();
});

t.test('many chunks are no small ones', (t) => {
  t.equal(read(`${'1\r\na\r\n'.repeat(1_025)}0\r\n\r\n`, 10_000), 400);
  const large = `40\r\n${'a'.repeat(64)}\r\n`.repeat(2_000);
  t.equal(read(`${large}0\r\n\r\n`, 10_000)?.toString().length, 128_001);
  t.end();
});

t.test('a body in chunks of one byte is one buffer for each read', (t) => {
  const { data } = new ChunkedBody().read(Buffer.from('1\r\na\r\n'.repeat(1_000))) as {
    readonly data: Buffer;
  };
  t.equal(data.length, 1_000);
  t.end();
});
