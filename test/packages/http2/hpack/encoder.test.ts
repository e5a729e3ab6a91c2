import * as fc from 'fast-check';
import t from 'tap';
import { Encoder, fieldsSizeMax } from '../../../../packages/http2/src/hpack/encoder.ts';
import type { Field } from '../../../../packages/http2/src/hpack/field.ts';
import { decode, encode, field, hex, makeDecoder, pairs, sizeOf, tableOf } from './blocks.ts';
import { STORIES } from './stories.ts';

const compile = (encoder: Encoder, fields: readonly Field[]): Buffer => {
  const into = Buffer.alloc(fieldsSizeMax(fields));
  return into.subarray(0, encoder.compile(fields, into, 0));
};

for (const { name, cases } of STORIES) {
  t.test(`there and back: ${name}`, (t) => {
    for (const changesSize of [false, true]) {
      const encoder = new Encoder();
      const decoder = makeDecoder();
      for (const [position, { tableSizeMax, fields }] of cases.entries()) {
        const sizeMax = changesSize ? (position * 977) % 5000 : tableSizeMax;
        if (sizeMax !== undefined) {
          encoder.setTableSizeMax(sizeMax);
          decoder.setTableSizeMax(sizeMax);
        }
        const given = fields.map(([name, value]) => field(name, value));
        t.same(pairs(decode(decoder, encode(encoder, given)).fields), fields);
      }
    }
    t.end();
  });
}

t.test('RFC 7541 C.4, octet for octet', (t) => {
  const encoder = new Encoder();
  const first = [
    field(':method', 'GET'),
    field(':scheme', 'http'),
    field(':path', '/'),
    field(':authority', 'www.example.com'),
  ];
  t.equal(encode(encoder, first).toString('hex'), '828684418cf1e3c2e5f23a6ba0ab90f4ff');
  const second = [...first, field('cache-control', 'no-cache')];
  t.equal(encode(encoder, second).toString('hex'), '828684be5886a8eb10649cbf');
  const third = [
    field(':method', 'GET'),
    field(':scheme', 'https'),
    field(':path', '/index.html'),
    field(':authority', 'www.example.com'),
    field('custom-key', 'custom-value'),
  ];
  const block = encode(encoder, third).toString('hex');
  t.equal(block, '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf');
  t.end();
});

t.test('each way to write a field', (t) => {
  const encoder = new Encoder();
  const write = (one: Field): string => encode(encoder, [one]).toString('hex');
  t.equal(write(field(':path', '{}', 'without')), '04027b7d', 'with the name of the static table');
  t.equal(write(field(':path', '{}', 'never')), '14027b7d');
  t.equal(write(field('{', '}', 'without')), '00017b017d');
  t.equal(write(field('{', '}', 'never')), '10017b017d');
  t.equal(write(field('{', '}')), '40017b017d');
  t.equal(write(field('{', '}')), 'be', 'from the table the second time');
  t.equal(write(field('{', '}', 'without')), 'be');
  t.equal(write(field('{', '}', 'never')), '1f2f017d', 'a literal for ever');
  t.equal(write(field('{', '{}', 'without')), '0f2f027b7d', 'with the name of the dynamic table');
  t.equal(write(field('{', '{}')), '7e027b7d');
  t.end();
});

t.test('an entry of more than half of the table is not inserted', (t) => {
  const encoder = new Encoder(100);
  const decoder = makeDecoder();
  decode(decoder, encode(encoder, [field('a', 'x'.repeat(17)), field('b', 'x'.repeat(18))]));
  t.same(tableOf(decoder), [['a', 'x'.repeat(17)]]);
  t.end();
});

t.test('the newest of equal names is found as long as it is there', (t) => {
  const encoder = new Encoder(136);
  const decoder = makeDecoder();
  for (const value of ['1', '2', '1', '3', '4', '1', '5', '2', '1']) {
    const given = [field('a', value), field('a', value, 'without'), field('a', '9', 'without')];
    t.same(pairs(decode(decoder, encode(encoder, given)).fields), pairs(given), value);
  }
  t.end();
});

t.test('size updates: the lowest since the last block, then the last', (t) => {
  const begin = (ownSizeMax: number | undefined, ...sizes: number[]): string => {
    const encoder = new Encoder(ownSizeMax);
    if (ownSizeMax === undefined) encode(encoder, [field('a', 'b')]);
    for (const size of sizes) encoder.setTableSizeMax(size);
    return encode(encoder, [field(':method', 'GET')]).toString('hex');
  };
  t.equal(begin(undefined), '82', 'none');
  t.equal(begin(undefined, 100), '3f4582', 'lowered');
  t.equal(begin(undefined, 0), '2082', 'to nothing');
  t.equal(begin(undefined, 100, 200), '3f453fa90182', 'lowered, then raised in part');
  t.equal(begin(undefined, 0, 4096), '203fe11f82', 'lowered, then as before');
  t.equal(begin(undefined, 200, 100), '3f4582', 'lowered twice');
  t.equal(begin(undefined, 8192), '82', 'raised beyond what we use');
  t.equal(begin(undefined, 4096), '82', 'as it was');
  t.equal(begin(100), '3f4582', 'we use less from the beginning');
  t.equal(begin(100, 50), '3f1382');
  t.equal(begin(100, 5000), '3f4582');
  t.equal(begin(8192, 8192), '3fe13f82', 'we use more, once we may');
  t.equal(begin(8192, 0xffffffff), '3fe13f82');
  t.end();
});

t.test('what was evicted by a size in between is not referred to', (t) => {
  const encoder = new Encoder();
  const decoder = makeDecoder();
  const given = [field('a', 'b')];
  decode(decoder, encode(encoder, given));
  for (const size of [0, 4096]) {
    encoder.setTableSizeMax(size);
    decoder.setTableSizeMax(size);
  }
  t.same(decode(decoder, encode(encoder, given)).fields, given);
  t.same(tableOf(decoder), [['a', 'b']]);
  t.end();
});

t.test('a character that is no octet is refused before anything has changed', (t) => {
  const encoder = new Encoder();
  const into = Buffer.alloc(200);
  const wide = [
    [field('a', 'b'), field('c', 'Ā')],
    [field('a', 'b'), field('ł', 'c')],
  ];
  for (const fields of wide) {
    t.throws(() => encoder.encode(fields, into, 0), TypeError);
    t.throws(() => encoder.compile(fields, into, 0), TypeError);
  }
  t.equal(encoder.epoch, new Encoder().epoch);
  t.same(encode(encoder, [field('a', '\xff')]), hex('400161 01ff'));
  t.end();
});

t.test('it writes at the offset, and no further than it says', (t) => {
  const fields = [field(':method', 'GET'), field('{', '}')];
  const into = Buffer.alloc(40, 0xaa);
  t.equal(new Encoder().encode(fields, into, 10), 16);
  t.same(
    into,
    Buffer.concat([Buffer.alloc(10, 0xaa), hex('82 40017b017d'), Buffer.alloc(24, 0xaa)]),
  );
  t.end();
});

t.test(
  'a compiled block inserts nothing: what is in no table is a literal without indexing',
  (t) => {
    const encoder = new Encoder();
    const { epoch } = encoder;
    for (let time = 0; time < 2; time += 1) {
      t.equal(
        compile(encoder, [field('{', '}'), field(':path', '{}')]).toString('hex'),
        '00017b017d04027b7d',
      );
    }
    t.equal(encoder.epoch, epoch);
    t.end();
  },
);

t.test('compiled blocks: the epoch tells how long they are valid', (t) => {
  const encoder = new Encoder();
  const fields = [field(':method', 'POST'), field('a', 'b'), field('c', 'd', 'never')];
  encode(encoder, fields);
  const { epoch } = encoder;
  const block = compile(encoder, fields);
  t.equal(block.toString('hex'), '83be1001630164');
  encode(encoder, fields);
  encode(encoder, [
    field('x', 'y', 'without'),
    field('x', 'y', 'never'),
    field('x'.repeat(4096), ''),
  ]);
  t.equal(encoder.epoch, epoch, 'nothing was inserted');
  encode(encoder, [field('x', 'y')]);
  t.not(encoder.epoch, epoch, 'an insertion');
  const afterwards = encoder.epoch;
  encoder.setTableSizeMax(4095);
  t.not(encoder.epoch, afterwards, 'another size');
  t.throws(() => compile(encoder, fields), /has yet to hear/, 'encode comes first');
  encode(encoder, []);
  t.equal(compile(encoder, fields).toString('hex'), '83bf1001630164');
  t.end();
});

const text = fc.oneof(
  fc.constantFrom('', 'a', ':path', ':status', '200', 'etag', 'x-id', 'b'.repeat(40)),
  fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((c) => String.fromCharCode(c)) }),
);
const anyField: fc.Arbitrary<Field> = fc.record({
  name: text,
  value: text,
  indexing: fc.constantFrom('incremental', 'without', 'never'),
});
const step = fc.record({
  sizes: fc.array(fc.oneof(fc.nat(200), fc.nat(5000)), { maxLength: 3 }),
  changesSize: fc.integer({ min: 0, max: 4 }).map((draw) => draw === 0),
  fields: fc.array(anyField, { maxLength: 12 }),
});

t.test('what is encoded is decoded, with eviction and under any order of sizes', (t) => {
  const property = fc.property(
    fc.nat(5000),
    fc.array(step, { minLength: 1, maxLength: 12 }),
    (ownSizeMax, steps) => {
      const encoder = new Encoder(ownSizeMax);
      const decoder = makeDecoder();
      for (const { sizes, changesSize, fields } of steps) {
        for (const size of changesSize ? sizes : []) {
          encoder.setTableSizeMax(size);
          decoder.setTableSizeMax(size);
        }
        t.same(pairs(decode(decoder, encode(encoder, fields)).fields), pairs(fields));
      }
      return sizeOf(tableOf(decoder)) <= ownSizeMax;
    },
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }));
  t.end();
});

t.test('a never-indexed field is one on the other side, and nothing else is', (t) => {
  const property = fc.property(fc.array(fc.array(anyField), { maxLength: 6 }), (lists) => {
    const encoder = new Encoder(500);
    const decoder = makeDecoder();
    return lists.every((fields) => {
      const decoded = decode(decoder, encode(encoder, fields)).fields;
      return fields.every(
        ({ indexing }, place) => (indexing === 'never') === (decoded[place]?.indexing === 'never'),
      );
    });
  });
  t.doesNotThrow(() => fc.assert(property));
  t.end();
});

t.test(
  'a compiled block means the same fields until the epoch rises, and changes no table',
  (t) => {
    const property = fc.property(
      fc.array(anyField, { maxLength: 8 }),
      fc.array(step, { maxLength: 8 }),
      (kept, steps) => {
        const encoder = new Encoder(400);
        const decoder = makeDecoder();
        decode(decoder, encode(encoder, kept));
        const { epoch } = encoder;
        const block = compile(encoder, kept);
        if (encoder.epoch !== epoch) return false;
        for (const { sizes, changesSize, fields } of steps) {
          const before = tableOf(decoder);
          for (const size of changesSize ? sizes : []) {
            encoder.setTableSizeMax(size);
            decoder.setTableSizeMax(size);
          }
          const resized = encoder.epoch !== epoch;
          decode(decoder, encode(encoder, fields));
          if (encoder.epoch !== epoch) {
            return resized || JSON.stringify(tableOf(decoder)) !== JSON.stringify(before);
          }
          t.same(pairs(decode(decoder, block).fields), pairs(kept));
          t.same(tableOf(decoder), before);
        }
        return true;
      },
    );
    t.doesNotThrow(() => fc.assert(property, { numRuns: 300 }));
    t.end();
  },
);
