import t from 'tap';
import { aeroGearFormat } from '../../../packages/device-files/src/aerogear.ts';
import { describe, readAll } from '../../support/read-all.ts';

const APNS = '95f86df5b64e20a45e0e67782984abeb553a3232fcedf1d75407885798be6712';
const FCM =
  'fR4x:APA91bHPRgkF3JUikC4ENAHEeMrd41Zxv3hVZjC9KtT8OvPVGJ-hQMRKRrZuJAEcl7B338qju59zJMjw2DELjzEvxwYv7hH5Ynpc1ODQ0aT4U4OFEeco8ohsN5PjL1iC2dNtk2BAokeMCg2ZXKqpc8FXKmhX94kIxQ';

const INSTALLATIONS = [
  {
    id: '2c948a8d',
    enabled: true,
    deviceToken: APNS,
    deviceType: 'iPad',
    operatingSystem: 'iOS',
    osVersion: '6.1.2',
    alias: 'someUsername or "email" {adress}',
    categories: ['football', 'sport'],
    platform: null,
  },
  {
    deviceToken: FCM,
    deviceType: 'Phone',
    operatingSystem: 'Android',
    categories: [{ id: 1, name: 'news \\ "late"' }],
  },
  { deviceToken: `${APNS.slice(0, -1)}0` },
  { deviceToken: 'fcm-of-unknown-system', categories: null },
  { deviceToken: FCM, enabled: false, operatingSystem: 'android' },
  { deviceToken: 'http://localhost:7777/endpoint/1', deviceType: 'Web' },
  { deviceToken: 'x', operatingSystem: 'windows' },
  { alias: 'no token' },
  { deviceToken: FCM, categories: 'sport' },
  { deviceToken: FCM, categories: ['sport', ''] },
  { deviceToken: FCM, categories: [{ name: '' }] },
];

const EXPECTED = [
  `3 ${APNS} null null [football,sport]`,
  `15 ${FCM} null null [news \\ "late"]`,
  `3 ${APNS.slice(0, -1)}0 null null []`,
  '15 fcm-of-unknown-system null null []',
  'passed: 15 disabled',
  'passed: of another kind than iOS and Android',
  'passed: of another kind than iOS and Android',
  'deviceToken is missing.',
  'categories must be a list of names.',
  'categories must be a list of names.',
  'categories must be a list of names.',
];

const read = async (file: string, pieceOctets?: number) =>
  (await readAll(aeroGearFormat, file, pieceOctets)).map(describe);

t.test('one line, or many: the array may be broken anywhere', async (t) => {
  const files = [JSON.stringify(INSTALLATIONS), JSON.stringify(INSTALLATIONS, null, 2)];
  for (const file of files) {
    for (const pieceOctets of [1, 64, 1_000_000]) {
      const entries = await read(file, pieceOctets);
      t.same(
        entries.map((entry) => entry.replace(/^\d+ /, '')),
        EXPECTED,
      );
    }
  }
  t.match(await read(JSON.stringify(INSTALLATIONS, null, 2)), [/^2 3 /, /^16 15 /]);
});

t.test('one that cannot be read does no harm to the next one', async (t) => {
  t.same(
    await read(
      '[{"deviceToken":"a"},{"deviceToken":"b",},oops,{"deviceToken":"c"},\n{"deviceToken"',
    ),
    [
      '1 15 a null null []',
      '1 is not a JSON object.',
      '1 has something that is no object of a JSON array.',
      '1 15 c null null []',
      '2 begins an object without an end.',
    ],
  );
  t.same(await read('[]'), []);
});
