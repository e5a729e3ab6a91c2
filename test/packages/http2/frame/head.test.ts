import * as fc from 'fast-check';
import t from 'tap';
import {
  FRAME_HEAD_OCTETS,
  readUint31,
  readUint32,
  writeFrameHead,
  writeLength,
  writeStreamId,
} from '../../../../packages/http2/src/frame/head.ts';
import { GOOD_VECTORS } from './vectors.ts';

for (const { name, wire, length, type, flags, streamId } of GOOD_VECTORS) {
  t.test(name, (t) => {
    const head = Buffer.alloc(FRAME_HEAD_OCTETS);
    t.equal(writeFrameHead(head, 0, { length, type, flags, streamId }), FRAME_HEAD_OCTETS);
    t.same(head, wire.subarray(0, FRAME_HEAD_OCTETS));
    t.end();
  });
}

t.test('numbers of four octets are as node reads them', (t) => {
  void fc.assert(
    fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), (octets) => {
      const bytes = Buffer.from([0xff, ...octets, 0xff]);
      const value = bytes.readUInt32BE(1);
      return readUint32(bytes, 1) === value && readUint31(bytes, 1) === value % 2 ** 31;
    }),
  );
  t.end();
});

t.test('length and stream are written into a head that is there', (t) => {
  const nat = (max: number) => fc.integer({ min: 0, max });
  void fc.assert(
    fc.property(
      nat(2 ** 24 - 1),
      nat(255),
      nat(255),
      nat(2 ** 31 - 1),
      (length, type, flags, id) => {
        const whole = Buffer.alloc(11, 0xee);
        writeFrameHead(whole, 1, { length, type, flags, streamId: id });
        const filledIn = Buffer.alloc(11, 0xee);
        writeFrameHead(filledIn, 1, { length: 0, type, flags, streamId: 0 });
        writeLength(filledIn, 1, length);
        writeStreamId(filledIn, 1, id);
        return (
          whole.equals(filledIn) &&
          whole.readUIntBE(1, 3) === length &&
          whole[4] === type &&
          whole[5] === flags &&
          whole.readUInt32BE(6) === id &&
          whole[0] === 0xee &&
          whole[10] === 0xee
        );
      },
    ),
  );
  t.end();
});
