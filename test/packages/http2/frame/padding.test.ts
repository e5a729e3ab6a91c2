import * as fc from 'fast-check';
import t from 'tap';
import { Flag } from '../../../../packages/http2/src/frame/head.ts';
import { withoutPadding } from '../../../../packages/http2/src/frame/padding.ts';
import { codeOf, text } from './vectors.ts';

t.test('without the flag everything is content', (t) => {
  t.same(withoutPadding(Flag.NONE, Buffer.from([200, 1]), 0, 2), { start: 0, end: 2 });
  t.same(withoutPadding(~Flag.PADDED, Buffer.from([200, 1]), 0, 2), { start: 0, end: 2 });
  t.end();
});

t.test('no room for the length is a FRAME_SIZE_ERROR', (t) => {
  t.equal(
    codeOf(() => withoutPadding(Flag.PADDED, Buffer.from([0]), 1, 1)),
    6,
  );
  t.end();
});

t.test('padding of the payload’s length or more is a PROTOCOL_ERROR, less is taken off', (t) => {
  void fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.nat(255),
      fc.nat(3),
      (content, padding, before) => {
        const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from([padding]), content]);
        const pad = (): ReturnType<typeof withoutPadding> =>
          withoutPadding(Flag.PADDED, bytes, before, bytes.length);
        if (padding > content.length) return codeOf(pad) === 1;
        const left = Buffer.from(content.subarray(0, content.length - padding)).toString('latin1');
        return text(bytes, pad()) === left;
      },
    ),
  );
  t.end();
});
