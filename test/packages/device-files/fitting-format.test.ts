import t from 'tap';
import { fittingFormat } from '../../../packages/device-files/src/fitting-format.ts';

const CASES: readonly (readonly [begin: string, format: string | null])[] = [
  ['platformId,deviceId,tags\n15,a,\n', 'csv'],
  ['sep=;\r\nDEVICEID;platformid\r\na;15\r\n', 'csv'],
  ['id,identifier,session_count,device_type,tags\n', 'onesignal'],
  ['{"platformId":15,"deviceId":"a"}\n{"pl', 'ndjson'],
  ['{"installationId":"i","platform":"apns","pushChannel":"x"}\n', 'azure'],
  ['{"deviceToken":"a","deviceType":"iPhone"}\n', 'aerogear'],
  [' [ {"deviceToken"', 'aerogear'],
  ['\uFEFF<?xml version="1.0"?><feed>', 'azure'],
  ['{"a":1}\n', null],
  ['{"a":\n', null],
  ['platform|device\n', null],
  ['"open\n', null],
  ['', null],
];

t.test('the beginning of a file shows its format', (t) => {
  for (const [begin, format] of CASES) t.equal(fittingFormat(Buffer.from(begin)), format, begin);
  const excel = Buffer.from('\uFEFFidentifier\tdevice_type\r\n', 'utf16le');
  t.equal(fittingFormat(excel), 'onesignal', 'in UTF-16');
  t.equal(fittingFormat(excel.subarray(0, -1)), 'onesignal', 'cut in a character');
  t.end();
});
