import * as fc from 'fast-check';
import t from 'tap';
import { ConnectionError, ErrorCode } from '../../../../packages/http2/src/error.ts';
import {
  INTEGER_OCTETS_MAX,
  integerOctets,
  readInteger,
  writeInteger,
} from '../../../../packages/http2/src/hpack/integer.ts';
import { hex } from './blocks.ts';

const write = (value: number, prefixBits: number, firstOctet = 0): string => {
  const into = Buffer.alloc(INTEGER_OCTETS_MAX);
  return into.subarray(0, writeInteger(into, 0, firstOctet, prefixBits, value)).toString('hex');
};
const read = (block: Buffer, prefixBits: number): number =>
  readInteger({ bytes: block, offset: 0, end: block.length }, prefixBits);

const COMPRESSION_ERROR = { name: 'ConnectionError', code: ErrorCode.COMPRESSION_ERROR };

t.test('RFC 7541 C.1', (t) => {
  t.equal(write(10, 5), '0a', 'C.1.1');
  t.equal(write(1337, 5), '1f9a0a', 'C.1.2');
  t.equal(write(42, 8), '2a', 'C.1.3');
  t.equal(read(hex('0a'), 5), 10, 'C.1.1');
  t.equal(read(hex('ea'), 5), 10, 'the other bits do not count');
  t.equal(read(hex('1f9a0a'), 5), 1337, 'C.1.2');
  t.equal(read(hex('2a'), 8), 42, 'C.1.3');
  t.end();
});

t.test('where the prefix just does and just does not suffice', (t) => {
  t.equal(write(30, 5, 0x20), '3e');
  t.equal(write(31, 5, 0x20), '3f00');
  t.equal(write(158, 5, 0x20), '3f7f');
  t.equal(write(159, 5, 0x20), '3f8001');
  t.end();
});

t.test('the 32 bits of a setting can be written', (t) => {
  t.equal(write(0xffffffff, 4), '0ff0ffffff0f');
  t.equal(integerOctets(4, 0xffffffff), INTEGER_OCTETS_MAX);
  t.end();
});

t.test('what is written is read, and has the octets that were told', (t) => {
  const property = fc.property(
    fc.integer({ min: 1, max: 8 }),
    fc.oneof(fc.nat(300), fc.nat(0xfffffff)),
    (prefixBits, value) => {
      const text = write(value, prefixBits);
      return (
        read(hex(text), prefixBits) === value &&
        integerOctets(prefixBits, value) === text.length / 2
      );
    },
  );
  t.doesNotThrow(() => fc.assert(property));
  t.end();
});

t.test('too large, in value or in octets', (t) => {
  t.equal(read(hex('7f ff ff ff 7f'), 7), 0xfffffff + 0x7f, 'the largest that we take');
  t.throws(() => read(hex('7f 80 80 80 80 01'), 7), COMPRESSION_ERROR, 'one more');
  t.throws(() => read(hex('7f ff ff ff ff 0f'), 7), COMPRESSION_ERROR, '32 bits');
  t.throws(() => read(hex('7f 80 80 80 80 00'), 7), COMPRESSION_ERROR, 'a zero made long');
  const endless = Buffer.alloc(1 << 20, 0x80);
  endless[0] = 0x7f;
  t.throws(() => read(endless, 7), COMPRESSION_ERROR, 'without end');
  t.end();
});

t.test('the end of the block inside an integer', (t) => {
  for (const block of ['', '7f', '7f80', '7f8080']) {
    t.throws(() => read(hex(block), 7), ConnectionError, block);
  }
  t.end();
});
