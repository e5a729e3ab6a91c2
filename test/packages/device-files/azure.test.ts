import { Readable } from 'node:stream';
import t from 'tap';
import { azureFormat } from '../../../packages/device-files/src/azure.ts';
import { readEntries } from '../../../packages/device-files/src/read-entries.ts';
import { collectedHeapOctets } from '../../support/collected-heap.ts';
import { describe, readAll } from '../../support/read-all.ts';

const APNS = '1111111111111111111111111111111111111111111111111111111111111111';
const NAMESPACES =
  'xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"';

const description = (kind: string, content: string): string =>
  `<${kind}RegistrationDescription ${NAMESPACES}><ETag>1</ETag><ExpirationTime>9999-12-31T23:59:59.999</ExpirationTime><RegistrationId>2772199343190529178-5408359458679310168-2</RegistrationId>${content}</${kind}RegistrationDescription>`;

const apple = description(
  'Apple',
  `<Tags>tennis,vip &amp; co, ,$InstallationId:{a-b}</Tags><DeviceToken>${APNS}</DeviceToken>`,
);

const read = async (file: string, pieceOctets?: number) =>
  (await readAll(azureFormat, file, pieceOctets)).map(describe);

t.test('an export: a registration a line', async (t) => {
  const file = [
    `<?xml version="1.0" encoding="utf-16"?>${apple}`,
    description('Gcm', '<Tags>a</Tags><GcmRegistrationId>gcm-token</GcmRegistrationId>'),
    description('FcmV1', '<FcmV1RegistrationId>fcm-token</FcmV1RegistrationId>'),
    description(
      'FcmV1Template',
      `<Tags>b</Tags><FcmV1RegistrationId>fcm-token</FcmV1RegistrationId><BodyTemplate><![CDATA[{"message":{"x":"</Tags><Tags>no</Tags>"}}]]></BodyTemplate>`,
    ),
    description(
      'AppleTemplate',
      `<Tags>c</Tags><DeviceToken>${APNS}</DeviceToken><ApnsHeaders><ApnsHeader><Header>apns-priority</Header><Value>5</Value></ApnsHeader></ApnsHeaders><TemplateName>t</TemplateName>`,
    ),
    description(
      'Browser',
      '<Tags>w</Tags><Endpoint>https://fcm.googleapis.com/x</Endpoint><P256DH>key</P256DH><Auth>secret</Auth>',
    ),
    description('Windows', '<ChannelUri>https://cloud.notify.windows.com/?token=x</ChannelUri>'),
    '',
    description('Apple', '<Tags>a</Tags>'),
  ].join('\r\n');
  const expected = [
    `1 3 ${APNS} null null [tennis,vip & co]`,
    '2 15 gcm-token null null [a]',
    '3 15 fcm-token null null []',
    '4 15 fcm-token null null [b]',
    `5 3 ${APNS} null null [c]`,
    '6 7 {"endpoint":"https://fcm.googleapis.com/x","expirationTime":null,"keys":{"p256dh":"key","auth":"secret"}} null null [w]',
    '7 passed: of another kind than Apple, Fcm and Browser',
    '9 deviceId must be text of 1–4096 characters.',
  ];
  for (const pieceOctets of [1, 100, 1_000_000]) t.same(await read(file, pieceOctets), expected);
});

t.test('a feed of the REST API, broken into lines', async (t) => {
  const entry = `<entry xmlns="http://www.w3.org/2005/Atom">
    <id>https://sample.servicebus.windows.net/hub/registrations/1?api-version=2015-01</id>
    <title type="text">1</title>
    <content type="application/xml">
      ${apple.replaceAll('><', '>\n<')}
    </content>
  </entry>`;
  const feed = `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n${entry}\n${entry}\n</feed>\n`;
  t.same(await read(feed), [
    `7 3 ${APNS} null null [tennis,vip & co]`,
    `20 3 ${APNS} null null [tennis,vip & co]`,
  ]);
});

t.test('lines of JSON: registrations and installations', async (t) => {
  const lines = [
    { kind: 'Apple', deviceToken: APNS, tags: ['tennis'] },
    { type: 'FcmV1Template', fcmV1RegistrationId: 'f', tags: ['a', '$UserId:{x}'] },
    { installationId: 'i', platform: 'apns', pushChannel: APNS, tags: ['b'] },
    { installationId: 'i', platform: 'fcmv1', pushChannel: 'g' },
    { platform: 'browser', pushChannel: { endpoint: 'https://e', p256dh: 'k', auth: 's' } },
    { platform: 'wns', pushChannel: 'x' },
    { platform: 'apns' },
  ];
  const odd = '{"kind":"Apple","deviceToken":"a","expiry":1.0,"tags":["b",1.10]}';
  t.same(await read(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"a\n${odd}\n`), [
    `1 3 ${APNS} null null [tennis]`,
    '2 15 f null null [a]',
    `3 3 ${APNS} null null [b]`,
    '4 15 g null null []',
    '5 7 {"endpoint":"https://e","expirationTime":null,"keys":{"p256dh":"k","auth":"s"}} null null []',
    '6 passed: of another kind than Apple, Fcm and Browser',
    '7 deviceId must be text of 1–4096 characters.',
    '8 is not a JSON object.',
    '9 tags.1 is written 1.10 and would arrive as 1.1; write it as a string.',
  ]);
});

t.test('a line that is no XML does no harm to the next one', async (t) => {
  const file = [apple, '<AppleRegistrationDescription><Tags>a</DeviceToken>', apple, '<a>'].join(
    '\n',
  );
  const device = `3 ${APNS} null null [tennis,vip & co]`;
  t.same(await read(file), [
    `1 ${device}`,
    '2 is not XML.',
    `3 ${device}`,
    '4 ends in the middle of an element.',
  ]);
});

/** Pieces of a file in which nothing ends. */
const ENDLESS: readonly (readonly [name: string, piece: string])[] = [
  ['elements in elements, on one line', '<a>'],
  ['elements in elements, each on a line of its own', '<a>\n'],
  ['a comment', '<!-- a\n'.padEnd(64, ' ')],
  ['attributes', `<a ${'b="c"\n'.repeat(8)}`],
  ['text in an element of a description', '<AppleRegistrationDescription><Tags>\n'.padEnd(99, 'a')],
];
/** More than is kept; without a bound these took a hundred times as much memory. */
const ENDLESS_OCTETS = 3 * 1_024 * 1_024;
const CHUNK_OCTETS = 65_536;
const HEAP_OCTETS_MORE_MAX = 48 * 1_024 * 1_024;

for (const [name, piece] of ENDLESS) {
  t.test(`memory does not grow with a file that never ends: ${name}`, async (t) => {
    let octetsMore = 0;
    const before = collectedHeapOctets();
    function* chunks(): Generator<Buffer> {
      for (let sent = 0; sent < ENDLESS_OCTETS; sent += CHUNK_OCTETS) {
        yield Buffer.from(piece.repeat(Math.ceil(CHUNK_OCTETS / piece.length)));
      }
      // Once: in a process of many files a collection takes long.
      octetsMore = collectedHeapOctets() - before;
      yield Buffer.from(`\n${'\n-->'}\n${apple}\n`);
    }
    let faults = 0;
    for await (const entries of readEntries(Readable.from(chunks()), azureFormat))
      faults += entries.length;
    t.ok(faults > 0, 'it is at fault');
    t.ok(octetsMore < HEAP_OCTETS_MORE_MAX, `${octetsMore} octets more`);
  });
}

t.test('after what is too deep the next line is read', async (t) => {
  t.same(
    await read(['<a>'.repeat(40), apple, '<a>'.repeat(20), '</a>'.repeat(20), apple].join('\n')),
    [
      '1 is nested deeper than 32 elements.',
      `2 3 ${APNS} null null [tennis,vip & co]`,
      `5 3 ${APNS} null null [tennis,vip & co]`,
    ],
  );
});

t.test('a file of another kind has faults, not silence', async (t) => {
  const sentence = 'is neither XML nor a JSON object.';
  t.same(await read('a;b\n1;2\n'), [`1 ${sentence}`, `2 ${sentence}`]);
  t.same(await read('<feed xmlns="http://www.w3.org/2005/Atom"></feed>\n'), []);
});
