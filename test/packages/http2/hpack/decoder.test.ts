import * as fc from 'fast-check';
import t from 'tap';
import { ConnectionError, ErrorCode } from '../../../../packages/http2/src/error.ts';
import { Encoder } from '../../../../packages/http2/src/hpack/encoder.ts';
import type { Pair } from './blocks.ts';
import { decode, encode, field, hex, makeDecoder, pairs, sizeOf, tableOf } from './blocks.ts';
import { STORIES } from './stories.ts';

const COMPRESSION_ERROR = { name: 'ConnectionError', code: ErrorCode.COMPRESSION_ERROR };

const fault = (message: RegExp) => ({ ...COMPRESSION_ERROR, message });

for (const { name, cases } of STORIES) {
  t.test(`the vectors: ${name}`, (t) => {
    const decoder = makeDecoder();
    for (const { tableSizeMax, block, fields } of cases) {
      if (tableSizeMax !== undefined) decoder.setTableSizeMax(tableSizeMax);
      t.same(pairs(decode(decoder, block).fields), fields);
    }
    t.end();
  });
}

t.test('RFC 7541 C.2: each representation', (t) => {
  const literal = makeDecoder();
  const block = hex('400a637573746f6d2d6b65790d637573746f6d2d686561646572');
  t.same(decode(literal, block).fields, [field('custom-key', 'custom-header')], 'C.2.1');
  t.same(tableOf(literal), [['custom-key', 'custom-header']]);
  t.equal(sizeOf(tableOf(literal)), 55);

  const others = makeDecoder();
  t.same(
    decode(others, hex('040c2f73616d706c652f70617468')).fields,
    [field(':path', '/sample/path', 'without')],
    'C.2.2',
  );
  t.same(
    decode(others, hex('100870617373776f726406736563726574')).fields,
    [field('password', 'secret', 'never')],
    'C.2.3',
  );
  t.same(decode(others, hex('82')).fields, [field(':method', 'GET')], 'C.2.4');
  t.same(tableOf(others), []);
  t.end();
});

const AUTHORITY: Pair = [':authority', 'www.example.com'];
const REQUESTS: readonly { readonly fields: readonly Pair[]; readonly table: readonly Pair[] }[] = [
  {
    fields: [[':method', 'GET'], [':scheme', 'http'], [':path', '/'], AUTHORITY],
    table: [AUTHORITY],
  },
  {
    fields: [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      AUTHORITY,
      ['cache-control', 'no-cache'],
    ],
    table: [['cache-control', 'no-cache'], AUTHORITY],
  },
  {
    fields: [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      AUTHORITY,
      ['custom-key', 'custom-value'],
    ],
    table: [['custom-key', 'custom-value'], ['cache-control', 'no-cache'], AUTHORITY],
  },
];
const [DATE_21, DATE_22]: readonly [Pair, Pair] = [
  ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'],
  ['date', 'Mon, 21 Oct 2013 20:13:22 GMT'],
];
const LOCATION: Pair = ['location', 'https://www.example.com'];
const PRIVATE: Pair = ['cache-control', 'private'];
const COOKIE: Pair = ['set-cookie', 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1'];
const GZIP: Pair = ['content-encoding', 'gzip'];
const RESPONSES: typeof REQUESTS = [
  {
    fields: [[':status', '302'], PRIVATE, DATE_21, LOCATION],
    table: [LOCATION, DATE_21, PRIVATE, [':status', '302']],
  },
  {
    fields: [[':status', '307'], PRIVATE, DATE_21, LOCATION],
    table: [[':status', '307'], LOCATION, DATE_21, PRIVATE],
  },
  {
    fields: [[':status', '200'], PRIVATE, DATE_22, LOCATION, GZIP, COOKIE],
    table: [COOKIE, GZIP, DATE_22],
  },
];

const EXAMPLES = [
  {
    name: 'C.3: requests without Huffman coding',
    tableSizeMax: 4096,
    expected: REQUESTS,
    sizes: [57, 110, 164],
    blocks: [
      '828684410f7777772e6578616d706c652e636f6d',
      '828684be58086e6f2d6361636865',
      '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
    ],
  },
  {
    name: 'C.4: requests with Huffman coding',
    tableSizeMax: 4096,
    expected: REQUESTS,
    sizes: [57, 110, 164],
    blocks: [
      '828684418cf1e3c2e5f23a6ba0ab90f4ff',
      '828684be5886a8eb10649cbf',
      '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
    ],
  },
  {
    name: 'C.5: responses without Huffman coding, with eviction',
    tableSizeMax: 256,
    expected: RESPONSES,
    sizes: [222, 222, 215],
    blocks: [
      `4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d54
       6e1768747470733a2f2f7777772e6578616d706c652e636f6d`,
      '4803333037c1c0bf',
      `88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f
       3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076
       657273696f6e3d31`,
    ],
  },
  {
    name: 'C.6: responses with Huffman coding, with eviction',
    tableSizeMax: 256,
    expected: RESPONSES,
    sizes: [222, 222, 215],
    blocks: [
      `488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f
       0b97c8e9ae82ae43d3`,
      '4883640effc1c0bf',
      `88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335df
       dfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007`,
    ],
  },
];

for (const { name, tableSizeMax, expected, sizes, blocks } of EXAMPLES) {
  t.test(`RFC 7541 ${name}`, (t) => {
    const decoder = makeDecoder(tableSizeMax);
    for (const [position, { fields, table }] of expected.entries()) {
      const block = hex((blocks[position] ?? '').replaceAll(/\s/g, ''));
      t.same(pairs(decode(decoder, block).fields), fields);
      t.same(tableOf(decoder), table);
      t.equal(sizeOf(table), sizes[position]);
    }
    t.end();
  });
}

t.test('an index that is in no table', (t) => {
  t.throws(() => decode(makeDecoder(), hex('80')), fault(/index 0 /), '0');
  t.throws(() => decode(makeDecoder(), hex('be')), fault(/index 62 /), 'past an empty table');
  t.throws(() => decode(makeDecoder(), hex('40016101 62 bf')), fault(/index 63 /), 'past the end');
  t.throws(() => decode(makeDecoder(), hex('7f 00 01 61')), fault(/index 63 /), 'as a name');
  t.throws(() => decode(makeDecoder(), hex('0f 2f 01 61')), fault(/index 62 /), 'as a name');
  t.throws(
    () => decode(makeDecoder(), hex('ff ff ff ff 7f')),
    fault(/index 268435582 /),
    'far off',
  );
  t.end();
});

t.test('a size update above our limit', (t) => {
  t.throws(() => decode(makeDecoder(), hex('3f e2 1f')), fault(/limit/), '4097');
  t.same(decode(makeDecoder(), hex('3f e1 1f')).fields, [], '4096 is the limit');
  const raised = makeDecoder();
  raised.setTableSizeMax(4097);
  t.same(decode(raised, hex('3f e2 1f')).fields, [], 'after we raised it');
  t.end();
});

t.test('a size update that is not at the beginning of the block', (t) => {
  t.throws(() => decode(makeDecoder(), hex('82 20')), fault(/after a field/));
  t.throws(() => decode(makeDecoder(), hex('20 82 20')), fault(/after a field/));
  t.same(
    pairs(decode(makeDecoder(), hex('20 3fe11f 82')).fields),
    [[':method', 'GET']],
    'two are legal',
  );
  t.end();
});

t.test('a lowered limit', (t) => {
  const lowered = (...sizes: number[]) => {
    const decoder = makeDecoder();
    decode(decoder, hex('4001610162'));
    for (const size of sizes) decoder.setTableSizeMax(size);
    return decoder;
  };
  t.throws(() => decode(lowered(100), hex('82')), fault(/no size update/), 'must be announced');
  t.throws(() => decode(lowered(100), hex('')), fault(/no size update/), 'in an empty block too');
  t.throws(() => decode(lowered(100), hex('3f46 82')), fault(/limit/), 'by no more than it allows');
  t.same(pairs(decode(lowered(100), hex('3f45 be')).fields), [['a', 'b']], 'and what fits stays');
  t.throws(() => decode(lowered(0), hex('20 be')), fault(/index 62/), 'and what does not goes');
  t.throws(
    () => decode(lowered(0, 4096), hex('3fe11f 82')),
    fault(/no size update/),
    'the lowest first',
  );
  t.throws(() => decode(lowered(0, 4096), hex('20 3fe11f be')), fault(/index 62/), 'then the last');
  t.same(pairs(decode(lowered(5000), hex('be')).fields), [['a', 'b']], 'a raised one need not be');
  const asked = lowered(100);
  decode(asked, hex('3f45'));
  t.same(pairs(decode(asked, hex('be')).fields), [['a', 'b']], 'once is enough');
  t.end();
});

t.test('a table below the limit that the peer chose before it was lowered', (t) => {
  const decoder = makeDecoder();
  decode(decoder, hex('3f45'));
  decoder.setTableSizeMax(100);
  t.same(pairs(decode(decoder, hex('82')).fields), [[':method', 'GET']]);
  t.end();
});

t.test('Huffman: EOS inside, padding of more than seven bits, padding not all ones', (t) => {
  t.throws(() => decode(makeDecoder(), hex('04 84 ffffffff')), fault(/EOS/));
  t.throws(() => decode(makeDecoder(), hex('04 82 07ff')), fault(/seven ones/));
  t.throws(() => decode(makeDecoder(), hex('04 81 00')), fault(/seven ones/));
  t.end();
});

t.test('integers that overflow', (t) => {
  t.throws(() => decode(makeDecoder(), hex('ff 80 80 80 80 80 80 80 80 80 01')), fault(/integer/));
  t.throws(() => decode(makeDecoder(), hex('ff ff ff ff ff ff 0f')), fault(/integer/));
  t.throws(() => decode(makeDecoder(), hex('04 7f ff ff ff ff 0f')), fault(/integer/));
  t.throws(() => decode(makeDecoder(), Buffer.alloc(1e6, 0x80).fill(0xff, 0, 1)), fault(/integer/));
  t.end();
});

t.test('a block that ends anywhere else than behind a field', (t) => {
  const block = hex('3fe11f 408825a849e95ba97d7f8925a849e95bb8e8b4bf 0f10 03616263 ffff');
  const wholeAt = [0, 3, 23, 29];
  for (let end = 0; end < block.length; end += 1) {
    const cut = () => makeDecoder().decode(block, 0, end);
    if (wholeAt.includes(end)) t.doesNotThrow(cut, `whole at ${end}`);
    else t.throws(cut, COMPRESSION_ERROR, `cut at ${end}`);
  }
  t.end();
});

t.test('only bytes[start, end) count', (t) => {
  const block = hex('80 82 04 01 2f 80');
  t.same(pairs(makeDecoder().decode(block, 1, 5).fields), [
    [':method', 'GET'],
    [':path', '/'],
  ]);
  t.end();
});

t.test('an entry larger than the table empties it and is legal', (t) => {
  const decoder = makeDecoder();
  const large = field('a', 'b'.repeat(80));
  const block = Buffer.concat([hex('3f45 400161 0162 400161 50'), Buffer.from(large.value)]);
  t.same(decode(decoder, block).fields, [field('a', 'b'), large]);
  t.same(tableOf(decoder), []);
  t.end();
});

t.test('the name of an entry that the insertion evicts', (t) => {
  const decoder = makeDecoder();
  decode(decoder, hex('3f03 400161 0162'));
  t.same(tableOf(decoder), [['a', 'b']], '34 octets, the only place there is');
  t.same(decode(decoder, hex('7e 0163')).fields, [field('a', 'c')]);
  t.same(tableOf(decoder), [['a', 'c']]);
  t.end();
});

t.test('duplicates are legal', (t) => {
  const decoder = makeDecoder();
  decode(decoder, hex('400161 0162 400161 0162'));
  t.same(tableOf(decoder), [
    ['a', 'b'],
    ['a', 'b'],
  ]);
  t.end();
});

t.test('a list that is too large is dropped, and the table stays in step', (t) => {
  const decoder = makeDecoder(4096, 68);
  const two = decode(decoder, hex('400161 0162 400163 0164'));
  t.same(two, { fields: [field('a', 'b'), field('c', 'd')], isTooLarge: false }, 'just fits');
  const three = decode(decoder, hex('bf be 400165 0166'));
  t.same(three, { fields: [], isTooLarge: true });
  t.same(tableOf(decoder), [
    ['e', 'f'],
    ['c', 'd'],
    ['a', 'b'],
  ]);
  t.end();
});

t.test('a small block that swells to megabytes costs no memory', (t) => {
  const decoder = makeDecoder(4096, 16_384);
  decode(decoder, Buffer.concat([hex('400161 7fa11e'), Buffer.alloc(4000, 0x62)]));
  const bomb = decode(decoder, Buffer.alloc(100_000, 0xbe));
  t.same(bomb, { fields: [], isTooLarge: true });
  t.end();
});

t.test('the same small block is the same object as long as the table is the same', (t) => {
  const decoder = makeDecoder();
  decode(decoder, hex('400161 0162 400163 0164'));
  const first = decode(decoder, hex('88 bf be'));
  t.equal(decode(decoder, hex('88 bf be')), first);
  t.not(decode(decoder, hex('88 be be')), first);
  t.not(decode(decoder, hex('88 bf')), first);
  decode(decoder, hex('400165 0166'));
  t.same(pairs(decode(decoder, hex('88 bf be')).fields), [
    [':status', '200'],
    ['c', 'd'],
    ['e', 'f'],
  ]);
  t.end();
});

t.test('what was remembered does not hide that a size update is missing', (t) => {
  const decoder = makeDecoder();
  for (let time = 0; time < 3; time += 1) decode(decoder, hex('88'));
  decoder.setTableSizeMax(0);
  t.throws(() => decode(decoder, hex('88')), fault(/no size update/));
  t.end();
});

t.test('the bytes may be overwritten after decoding', (t) => {
  const decoder = makeDecoder();
  const bytes = hex('04 01 2f');
  const before = decode(decoder, bytes);
  bytes.set(hex('88 82 86'));
  t.same(pairs(decode(decoder, bytes).fields), [
    [':status', '200'],
    [':method', 'GET'],
    [':scheme', 'http'],
  ]);
  t.same(before.fields, [field(':path', '/', 'without')]);
  t.end();
});

t.test('with the memory of blocks and without it, the answers are equal', (t) => {
  const known = fc.constantFrom('88', '88be', '88bf', 'bfbe', '0401 2f', '1401 2f', 'c0', '');
  const inserting = fc.constantFrom('400161 0162', '5f00', 'be 400163 0164');
  const block = fc.oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: inserting });
  const property = fc.property(fc.array(block, { minLength: 20, maxLength: 60 }), (texts) => {
    const remembering = makeDecoder();
    const forgetting = makeDecoder();
    for (const text of texts) {
      // A size update, even to the same size, makes a block that is never remembered.
      const expected = attempt(() => decode(forgetting, hex(`3fe11f ${text}`)));
      const actual = attempt(() => decode(remembering, hex(text)));
      if (JSON.stringify(actual) !== JSON.stringify(expected)) return false;
    }
    return true;
  });
  t.doesNotThrow(() => fc.assert(property));
  t.end();
});

t.test(
  'random octets, and valid blocks with octets changed, give fields or a COMPRESSION_ERROR',
  (t) => {
    const valid = STORIES.flatMap(({ cases }) => cases.slice(0, 20).map(({ block }) => block));
    const mutated = fc
      .tuple(
        fc.constantFrom(...valid),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      )
      .map(([block, changes]) => {
        const copy = Buffer.from(block);
        for (const [place, octet] of changes) copy[place % copy.length] = octet;
        return copy;
      });
    const random = fc
      .uint8Array({ maxLength: 200, size: 'max' })
      .map((octets) => Buffer.from(octets));
    const property = fc.property(
      fc.array(fc.oneof(random, mutated), { minLength: 1, maxLength: 8 }),
      (blocks) => {
        const decoder = makeDecoder(4096, 16_384);
        for (const block of blocks) {
          try {
            if (sizeOf(pairs(decode(decoder, block).fields)) > 16_384) return false;
          } catch (error) {
            return error instanceof ConnectionError && error.code === ErrorCode.COMPRESSION_ERROR;
          }
        }
        return sizeOf(tableOf(decoder)) <= 4096;
      },
    );
    t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }));
    t.end();
  },
);

t.test('a never-indexed field keeps its bit on its way through (RFC 7541 6.2.3)', (t) => {
  const encoder = new Encoder();
  const secret = field('authorization', 'bearer x', 'never');
  const block = encode(encoder, [secret]);
  const once = decode(makeDecoder(), block).fields;
  t.same(once, [secret]);
  t.same(encode(encoder, once), block);
  t.end();
});

function attempt<Result>(make: () => Result): Result | null {
  try {
    return make();
  } catch {
    return null;
  }
}
