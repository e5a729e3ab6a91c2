/** RFC 9113, 8.1 to 8.3: what a response may look like, and which are malformed. */

import type { Pair } from '../../../support/http2/blocks.ts';
import { conversation } from '../../../support/http2/conversation.ts';
import type { Octets } from '../../../support/http2/frames.ts';
import {
  Code,
  continuation,
  data,
  END_HEADERS,
  END_STREAM,
  headers,
  headersOf,
  rstStream,
} from '../../../support/http2/frames.ts';
import { GET } from '../../../support/http2/recorded-client.ts';

const OK = [[':status', '200']] as const;

interface Lawful {
  readonly what: string;
  readonly answer: readonly Octets[];
  readonly end: object;
}
const LAWFUL: readonly Lawful[] = [
  {
    what: 'HEADERS-only, END_STREAM on HEADERS',
    answer: [headers(1, [...OK, ['apns-id', 'A-1']], END_STREAM)],
    end: { status: 200, fields: { 'apns-id': 'A-1' }, body: '', trailers: {} },
  },
  {
    what: 'HEADERS, DATA, empty DATA with END_STREAM',
    answer: [headers(1, OK), data(1, '{"name":'), data(1, '1}'), data(1, '', END_STREAM)],
    end: { status: 200, body: '{"name":1}', isTruncated: false },
  },
  {
    what: 'DATA with END_STREAM',
    answer: [headers(1, [[':status', '410']]), data(1, '{"reason":"x"}', END_STREAM)],
    end: { status: 410, body: '{"reason":"x"}' },
  },
  {
    what: '1xx, any number of them, before the final response',
    answer: [
      headers(1, [[':status', '100']]),
      headers(1, [
        [':status', '103'],
        ['link', 'x'],
      ]),
      headers(1, [[':status', '199']]),
      headers(1, OK, END_STREAM),
    ],
    end: { status: 200, fields: {} },
  },
  {
    what: 'trailers are HEADERS with END_STREAM',
    answer: [headers(1, OK), data(1, 'body'), headers(1, [['grpc-status', '0']], END_STREAM)],
    end: { status: 200, body: 'body', trailers: { 'grpc-status': '0' } },
  },
  {
    what: 'trailers without content',
    answer: [headers(1, OK), headers(1, [['a', 'b']], END_STREAM)],
    end: { status: 200, body: '', trailers: { a: 'b' } },
  },
  {
    what: 'trailers over CONTINUATION, END_STREAM on their HEADERS',
    answer: [
      headers(1, OK),
      headersOf(1, Buffer.alloc(0), END_STREAM),
      continuation(1, headers(1, [['a', 'b']]).payload, END_HEADERS),
    ],
    end: { status: 200, trailers: { a: 'b' } },
  },
  {
    what: 'empty trailers',
    answer: [headers(1, OK), data(1, 'x'), headers(1, [], END_STREAM)],
    end: { body: 'x', trailers: {} },
  },
  {
    what: 'content-length that matches the DATA sum',
    answer: [
      headers(1, [...OK, ['content-length', '4']]),
      data(1, 'ab'),
      data(1, 'cd', END_STREAM),
    ],
    end: { body: 'abcd' },
  },
  {
    what: 'content-length twice, the same',
    answer: [
      headers(1, [...OK, ['content-length', '1'], ['content-length', '1']]),
      data(1, 'x', END_STREAM),
    ],
    end: { body: 'x' },
  },
  {
    what: 'content-length 0 with END_STREAM',
    answer: [headers(1, [...OK, ['content-length', '0']], END_STREAM)],
    end: { body: '' },
  },
  {
    what: '304 with the content-length of what it does not send',
    answer: [
      headers(
        1,
        [
          [':status', '304'],
          ['content-length', '7'],
        ],
        END_STREAM,
      ),
    ],
    end: { status: 304, body: '' },
  },
  {
    what: 'a field whose value is empty, or holds octets above 0x7f',
    answer: [headers(1, [...OK, ['empty', ''], ['latin', '\u00e4 \u00f6']], END_STREAM)],
    end: { fields: { empty: '', latin: '\u00e4 \u00f6' } },
  },
  {
    what: 'te: trailers',
    answer: [headers(1, [...OK, ['te', 'trailers']], END_STREAM)],
    end: { status: 200 },
  },
  {
    what: 'a status that nobody knows',
    answer: [headers(1, [[':status', '799']], END_STREAM)],
    end: { status: 799 },
  },
];
for (const { what, answer, end } of LAWFUL) {
  conversation(`responses: ${what}`, async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(...answer);
    t.match(await sent.end, { kind: 'answered', ...end });
    await peer.expectQuiet();
  });
}

const withField = (name: string, value: string): readonly Octets[] => [
  headers(1, [...OK, [name, value]], END_STREAM),
];
const only = (...fields: readonly Pair[]): readonly Octets[] => [headers(1, fields, END_STREAM)];

const MALFORMED: Readonly<Record<string, readonly Octets[]>> = {
  'no :status': only(['server', 'x']),
  'no field at all': only(),
  ':status twice': only([':status', '200'], [':status', '200']),
  ':status behind a regular field': only(['server', 'x'], [':status', '200']),
  ':status of two digits': only([':status', '20']),
  ':status of four digits': only([':status', '2000']),
  ':status that is no number': only([':status', 'abc']),
  ':status 000': only([':status', '000']),
  'an unknown pseudo-field': only([':status', '200'], [':other', 'x']),
  'a request pseudo-field': only([':status', '200'], [':path', '/']),
  'an uppercase name': withField('Server', 'x'),
  'an empty name': withField('', 'x'),
  'a name with a space': withField('a b', 'x'),
  'a name with a colon inside': withField('a:b', 'x'),
  'a name with an octet above 0x7f': withField('\u00e4', 'x'),
  'a value with NUL': withField('a', 'x\0y'),
  'a value with CR': withField('a', 'x\ry'),
  'a value with LF': withField('a', 'x\ny'),
  'a value with a space in front': withField('a', ' x'),
  'a value with a tab behind': withField('a', 'x\t'),
  'connection-specific connection': withField('connection', 'close'),
  'connection-specific keep-alive': withField('keep-alive', '1'),
  'connection-specific proxy-connection': withField('proxy-connection', 'x'),
  'connection-specific transfer-encoding': withField('transfer-encoding', 'chunked'),
  'connection-specific upgrade': withField('upgrade', 'h2c'),
  'te other than trailers': withField('te', 'gzip'),
  '101 is invalid': [headers(1, [[':status', '101']])],
  '1xx with END_STREAM': only([':status', '103']),
  'a second response': [headers(1, OK), headers(1, OK)],
  'trailers without END_STREAM': [headers(1, OK), data(1, 'x'), headers(1, [['a', 'b']])],
  'a pseudo-field in trailers': [headers(1, OK), headers(1, OK, END_STREAM)],
  'an uppercase name in trailers': [headers(1, OK), headers(1, [['A', 'b']], END_STREAM)],
  'DATA before HEADERS': [data(1, 'x')],
  'DATA after 1xx': [headers(1, [[':status', '100']]), data(1, 'x')],
  'empty DATA with END_STREAM before HEADERS': [data(1, '', END_STREAM)],
  'content-length above the DATA sum': [
    headers(1, [...OK, ['content-length', '3']]),
    data(1, 'ab', END_STREAM),
  ],
  'content-length below the DATA sum': [
    headers(1, [...OK, ['content-length', '1']]),
    data(1, 'a'),
    data(1, 'b', END_STREAM),
  ],
  'content-length without DATA': withField('content-length', '3'),
  'content-length against a body before trailers': [
    headers(1, [...OK, ['content-length', '3']]),
    data(1, 'ab'),
    headers(1, [['a', 'b']], END_STREAM),
  ],
  'content-length twice, different': only(
    [':status', '200'],
    ['content-length', '0'],
    ['content-length', '1'],
  ),
  'content-length that is no number': withField('content-length', '-1'),
};
for (const [what, answer] of Object.entries(MALFORMED)) {
  conversation(`responses: malformed is stream PROTOCOL_ERROR: ${what}`, async (scene) => {
    const { t, peer, client } = scene;
    await peer.greet();
    const sent = await client.request(GET);
    const other = await client.request(GET);
    await peer.expectRequest();
    await peer.expectRequest();
    peer.send(...answer);
    await peer.expect(rstStream(1, Code.PROTOCOL_ERROR));
    t.match(await sent.end, { kind: 'failed', isUnprocessed: false, reason: /PROTOCOL_ERROR/ });
    peer.send(headers(other.streamId, OK, END_STREAM));
    t.match(await other.end, { kind: 'answered', status: 200 }, 'other streams go on');
    await peer.expectQuiet();
  });
}

conversation('responses: the same malformed answer fails each time', async (scene) => {
  const { t, peer, client } = scene;
  await peer.greet();
  for (let i = 0; i < 3; i += 1) {
    const sent = await client.request(GET);
    const { streamId } = await peer.expectRequest();
    peer.send(headersOf(streamId, Buffer.from([0x88, 0x88]), END_HEADERS | END_STREAM));
    await peer.expect(rstStream(streamId, Code.PROTOCOL_ERROR));
    t.match(await sent.end, { kind: 'failed' });
  }
});

conversation(
  'responses: a failure after the head names its status',
  async ({ t, peer, client }) => {
    await peer.greet();
    const sent = await client.request(GET);
    await peer.expectRequest();
    peer.send(
      headers(1, [[':status', '410']]),
      data(1, '{"rea'),
      rstStream(1, Code.INTERNAL_ERROR),
    );
    t.match(await sent.end, { kind: 'failed', status: 410, isUnprocessed: false });
  },
);
