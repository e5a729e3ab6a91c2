import t from 'tap';
import { airshipFormat } from '../../../packages/device-files/src/airship.ts';
import { describe, readAll } from '../../support/read-all.ts';

const TOKEN = 'ab'.repeat(32);
const IOS = {
  channel_id: '0a1b',
  device_type: 'ios',
  installed: true,
  opt_in: true,
  push_address: TOKEN,
  last_registration: '2026-10-14T21:42:20',
  tags: ['news', ''],
  tag_groups: { ua_opt_in: ['true'], loyalty: ['gold'], device: ['news', 'vip'] },
  device_attributes: {
    ua_language: 'de',
    ua_country: 'CH',
    ua_local_tz: 'Europe/Zurich',
    ua_app_version: '5.2',
    ua_device_os: '17.5.1',
    ua_device_model: 'iPhone15,2',
  },
  attributes: { plan: 'gold', age: 42, address: { city: 'Bern' } },
};
const ANDROID = {
  device_type: 'android',
  push_address: 'cJ4:APA91b',
  ios: { tz: 'Europe/Berlin' },
};
const WEB = { device_type: 'web', push_address: 'https://updates.push.services.mozilla.com/a' };
const SUBSCRIPTION = { p256dh: 'public', auth: 'secret' };

t.test('pages of channels, single ones and lines', async (t) => {
  const pages = [
    {
      ok: true,
      channels: [IOS, { ...IOS, opt_in: false }],
      next_page: 'https://go.urbanairship.com',
    },
    { ok: true, channel: ANDROID },
    { ...ANDROID, push_address: null },
    { ...ANDROID, installed: false },
    { ...WEB, web: { subscription: SUBSCRIPTION } },
    WEB,
    { device_type: 'email', push_address: 'maya@acme.com' },
    { channels: [1] },
  ];
  const text = pages.map((page) => JSON.stringify(page)).join('\n');
  const entries = await readAll(airshipFormat, text);
  t.same(entries.map(describe), [
    `1 3 ${TOKEN} 5.2 1792014140000 [news,loyalty:gold,vip]`,
    '1 passed: 3 opted out (opt_in)',
    '2 15 cJ4:APA91b null null []',
    '3 passed: 15 without a token',
    '4 passed: 15 uninstalled (installed)',
    `5 7 {"endpoint":"${WEB.push_address}","expirationTime":null,"keys":{"auth":"secret","p256dh":"public"}} null null []`,
    '6 passed: 7 without web.subscription',
    '7 passed: of a kind that is not pushed to (device_type)',
    '8 has a channel that is no object.',
  ]);
  t.match(entries[0], {
    device: {
      attributes: {
        language: 'de',
        country: 'CH',
        timezone: 'Europe/Zurich',
        osVersion: '17.5.1',
      },
      properties: { plan: 'gold', age: 42 },
      unusable: ['attributes that hold JSON: only texts and numbers can be taken'],
    },
  });
  t.match(entries[2], { device: { attributes: { timezone: 'Europe/Berlin' }, unusable: [] } });
  for (const file of [`[${pages.map((page) => JSON.stringify(page)).join(',\n')}]`, text])
    t.same((await readAll(airshipFormat, file, 1_000)).length, entries.length);
});
