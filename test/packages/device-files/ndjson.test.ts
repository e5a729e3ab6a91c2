import t from 'tap';
import { ndjsonFormat } from '../../../packages/device-files/src/ndjson.ts';
import { describe, readAll } from '../../support/read-all.ts';

t.test('a device a line', async (t) => {
  const file = [
    '{"platformId":3,"deviceId":"AB","appVersion":"1.2","registeredAt":"2026-01-02T03:04:05+01:00","tags":[{"sourceId":"tennis"},"a",7]}',
    '{"platformId":"15","deviceId":"with\\nnewline","registeredAt":1767322445678,"unknown":1}\r',
    '   ',
    '[1]',
    '{"platformId":15,"deviceId":"x","tags":{}}',
    '{"platformId":15,"deviceId":"\\ud800"}',
    '{"__proto__":{"platformId":15,"deviceId":"x"}}',
    '{"platformId":15,"deviceId":"y","registeredAt":"2027-02-30T10:00:00Z"}',
    '{"platformId":7,"deviceId":"last"}',
  ].join('\n');
  const expected = [
    '1 3 AB 1.2 1767319445000 [tennis,a,7]',
    '2 15 with\nnewline null 1767322445678 []',
    '4 is not a JSON object.',
    '5 tags must be a list of sourceIds, ids, or objects with sourceId or id.',
    '6 deviceId must be text of 1–4096 characters.',
    '7 platformId must be 3 (iOS), 7 (Web) or 15 (Android).',
    '8 registeredAt must be a date in ISO 8601 with a time zone, or epoch milliseconds.',
    '9 7 last null null []',
  ];
  for (const pieceOctets of [1, 7, 100_000]) {
    t.same((await readAll(ndjsonFormat, file, pieceOctets)).map(describe), expected);
  }
});
