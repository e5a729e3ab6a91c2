import t from 'tap';
import { csvFormat } from '../../../packages/device-files/src/csv.ts';
import { RECORD_OCTETS_MAX } from '../../../packages/device-files/src/raw-record.ts';
import { describe, readAll } from '../../support/read-all.ts';

const HEAD = 'platformId,deviceId,appVersion,registeredAt,tags';

const read = async (file: string | Buffer, pieceOctets?: number) =>
  (await readAll(csvFormat, file, pieceOctets)).map(describe);

t.test('rows as people and programs write them', async (t) => {
  const file = [
    `\uFEFF${HEAD}`,
    '3,abc,1.2,2026-01-02T03:04:05.678Z,"[{""sourceId"":""tennis"",""id"":3,""name"":""Tennis""},{""id"":5,""name"":""Old, \\""quoted\\""""},""a"",7]"',
    '15,"quote"" comma, newline\n and CR LF\r\n end",,,tennis; goals ;',
    'fcm,plain,,1767322445678,',
    '',
    '7,"{""endpoint"":""https://x""}",,,',
    '15,ends without a newline,,,',
  ].join('\n');
  const expected = [
    '2 3 abc 1.2 1767323045678 [tennis,5,a,7]',
    '3 15 quote" comma, newline\n and CR LF\r\n end null null [tennis,goals]',
    '6 15 plain null 1767322445678 []',
    '8 7 {"endpoint":"https://x"} null null []',
    '9 15 ends without a newline null null []',
  ];
  for (const pieceOctets of [1, 7, 100_000]) t.same(await read(file, pieceOctets), expected);
});

t.test('CR LF, other orders of columns, columns that nobody asked for', async (t) => {
  t.same(await read('tags,x,deviceId,platformId\r\na;b,?,one,15\r\n,,two,15\r\n'), [
    '2 15 one null null [a,b]',
    '3 15 two null null []',
  ]);
});

t.test('a bad row does no harm to the next one', async (t) => {
  const file = [
    HEAD,
    '15,one,,,',
    '15,"two"x,,,',
    '15,three,,,',
    '15,four,,',
    '4,five,,,',
    '15,,,,',
    '15,seven,,yesterday,',
    '15,eight,,,"[{""name"":""x""}]"',
    '15,nine,,,[',
    '15,"ten,,,',
    '15,eleven,,,',
    `15,twelve,${'v'.repeat(256)},,`,
    '15,"a\u0000b",,,',
    '15,last,,,',
  ].join('\n');
  t.same(await read(file), [
    '2 15 one null null []',
    '3 has a quote at the wrong place.',
    '4 15 three null null []',
    '5 has 4 fields where the first line has 5.',
    '6 platformId must be 3 (iOS), 7 (Web) or 15 (Android).',
    '7 deviceId must be text of 1–4096 characters.',
    '8 registeredAt must be a date in ISO 8601 with a time zone, or epoch milliseconds.',
    '9 tags must be a list of sourceIds, ids, or objects with sourceId or id.',
    '10 tags must be a list of sourceIds, ids, or objects with sourceId or id.',
    '11 has a quote that is never closed.',
    '12 15 eleven null null []',
    '13 appVersion must be text of 255 characters at most.',
    '14 deviceId must be text of 1–4096 characters.',
    '15 15 last null null []',
  ]);
});

t.test(
  'a quote that is never closed takes a hundred lines at most, and gives them back',
  async (t) => {
    const rows = Array.from({ length: 300 }, (_, n) => `15,device-${n},,,`);
    const entries = await read([HEAD, '15,"open,,,', ...rows].join('\n'), 1_000);
    t.equal(entries[0], '2 has a quote that is never closed.');
    t.equal(entries.length, 301);
    t.equal(entries.at(-1), '302 15 device-299 null null []');
  },
);

t.test('a line without an end is not kept', async (t) => {
  const long = Buffer.alloc(RECORD_OCTETS_MAX + 1, 'x');
  const file = Buffer.concat([Buffer.from(`${HEAD}\n`), long, Buffer.from('\n15,next,,,\n')]);
  t.same(await read(file, 65_536), [
    `2 is longer than ${RECORD_OCTETS_MAX} bytes.`,
    '3 15 next null null []',
  ]);
});

t.test('what is not UTF-8 is said to be none', async (t) => {
  const file = Buffer.from(`${HEAD}\n15,caf\xe9,,,\n15,café,,,\n`, 'latin1');
  t.same((await read(file))[0], '2 is not UTF-8.');
});

t.test('a file of another kind is refused as a whole', async (t) => {
  await t.rejects(read('{"a":1}\n{"a":2}\n'), {
    message: 'The first line has no names of columns.',
  });
  await t.rejects(read('deviceId,tags\nx,\n'), {
    message: 'The file has no column platformId. The columns that it has: deviceId, tags.',
  });
});

const ROWS = ['2 15 one null null [a,b]', '3 3 two 1.0 null []'];

t.test('what Excel saves: separators, a line sep=, UTF-16, blanks, other case', async (t) => {
  const table = [
    [' PLATFORMID', 'deviceid ', 'AppVersion', 'tags'],
    [' 15 ', ' one', '', '"a; b"'],
    ['3', '"two" ', ' 1.0', ' '],
  ];
  const textOf = (separator: string) =>
    `${table.map((fields) => fields.join(separator)).join('\r\n')}\r\n`;
  for (const separator of [',', ';', '\t']) {
    const text = textOf(separator);
    t.same(await read(text), ROWS, JSON.stringify(separator));
    const later = ROWS.map((row) => row.replace(/^\d/, (line) => String(Number(line) + 1)));
    t.same(await read(`sep=${separator}\r\n${text}`), later);
    const littleEndian = Buffer.from(`\uFEFF${text}`, 'utf16le');
    const bigEndian = Buffer.from(littleEndian).swap16();
    for (const file of [littleEndian, bigEndian, littleEndian.subarray(2), bigEndian.subarray(2)])
      for (const pieceOctets of [1, 7, 100_000]) t.same(await read(file, pieceOctets), ROWS);
  }
});

t.test('rows of a table that are empty are none', async (t) => {
  t.same(await read('platformId;deviceId\r\n;\r\n15;one\r\n ; \r\n'), ['3 15 one null null []']);
});

t.test('blanks inside of quotes are part of a field', async (t) => {
  t.same(await read('platformId,deviceId\n15," one "\n'), ['2 15  one  null null []']);
});

t.test('a file of which nothing is understood: what was found is said', async (t) => {
  await t.rejects(read(''), { message: 'The file is empty: not even names of columns are in it.' });
  await t.rejects(read('sep=;\r\n'), /file is empty/);
  await t.rejects(read('platform|device\n15|one\n'), {
    message:
      'The file has no column platformId, deviceId. The columns that it has: platform|device.',
  });
  await t.rejects(read('platformId,deviceId,DeviceID\n15,a,b\n'), {
    message: 'The file has the column deviceId twice.',
  });
  await t.rejects(read(Buffer.from('\ufeffplatformId,\ud800deviceId\n', 'utf16le')), {
    message: 'The file begins as UTF-16, but is not valid UTF-16.',
  });
});
