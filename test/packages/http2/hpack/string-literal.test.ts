import * as fc from 'fast-check';
import t from 'tap';
import { ErrorCode } from '../../../../packages/http2/src/error.ts';
import { readString, writeString } from '../../../../packages/http2/src/hpack/string-literal.ts';
import { hex } from './blocks.ts';

const write = (text: string): Buffer => {
  const into = Buffer.alloc(text.length + 6);
  return into.subarray(0, writeString(text, into, 0));
};
const read = (block: Buffer): string => readString({ bytes: block, offset: 0, end: block.length });

const COMPRESSION_ERROR = { name: 'ConnectionError', code: ErrorCode.COMPRESSION_ERROR };

t.test('the shorter of the two ways, plain when they are equal', (t) => {
  t.equal(write('www.example.com').toString('hex'), '8cf1e3c2e5f23a6ba0ab90f4ff');
  t.equal(write('307').toString('hex'), '03333037');
  t.equal(write('{}').toString('hex'), '027b7d');
  t.equal(write('').toString('hex'), '00');
  t.end();
});

t.test('both ways are read, up to a size far above the scratch buffer', (t) => {
  const octets = String.fromCharCode(...Array(256).keys());
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...octets), maxLength: 300 }), (text) => {
        return read(write(text)) === text;
      }),
    ),
  );
  for (const text of ['0'.repeat(20_000), '\xff'.repeat(20_000)]) t.equal(read(write(text)), text);
  t.end();
});

t.test('octets beyond ASCII are characters of the same number', (t) => {
  t.equal(read(hex('03 c3 a9 ff')), '\xc3\xa9\xff');
  t.end();
});

t.test('the end of the block inside a string', (t) => {
  for (const block of ['', '01', '81', '02 61', '8c f1 e3', 'ff', '7f 80', '7f ff ff ff 7f 61']) {
    t.throws(() => read(hex(block)), COMPRESSION_ERROR, block);
  }
  t.end();
});
