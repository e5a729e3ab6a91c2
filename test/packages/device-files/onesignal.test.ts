import t from 'tap';
import { oneSignalFormat } from '../../../packages/device-files/src/onesignal.ts';
import { describe, readAll } from '../../support/read-all.ts';

/**
 * The columns of an export with the extra fields `notification_types`, `external_user_id`,
 * `web_auth` and `web_p256`.
 */
const HEAD =
  'id,identifier,session_count,language,timezone,game_version,device_os,device_type,device_model,ad_id,tags,last_active,playtime,amount_spent,created_at,invalid_identifier,badge_count,external_user_id,notification_types,web_auth,web_p256';
const APNS = '7ABCD558F29D0B1F048083E2834AD8EA4B3D87D8AD9C088B33C132706FF445F0';

const row = (fields: Readonly<Record<string, string>>): string =>
  HEAD.split(',')
    .map((name) => {
      const text = fields[name] ?? '';
      return text.includes('"') || text.includes(',') ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(',');

t.test('an export of every kind of subscription', async (t) => {
  const common = { id: '0a1b', session_count: '12', language: 'en', last_active: '1756800000' };
  const file = [
    HEAD,
    row({
      ...common,
      identifier: APNS,
      device_type: '0',
      device_model: 'iPhone15,2',
      game_version: '3.2.0',
      tags: '{"plan":"pro","tennis":"1","goals":"true","rugby":"0","level":4,"left":"","":"1"}',
      invalid_identifier: 'f',
    }),
    row({
      ...common,
      identifier: 'cJ4:APA91bHbYHk7',
      device_type: '1',
      tags: '{}',
      last_active: '2024-11-10 08:00:00 UTC',
    }),
    row({ ...common, identifier: 'gone', device_type: '1', invalid_identifier: 't' }),
    row({ ...common, device_type: '1' }),
    row({ ...common, identifier: 'off', device_type: '1', notification_types: '-2' }),
    row({ ...common, identifier: 'no', device_type: '0', notification_types: '0' }),
    row({ ...common, identifier: 'on', device_type: '1', notification_types: '1' }),
    row({ ...common, identifier: 'maya@acme.com', device_type: '11' }),
    row({ ...common, identifier: '+4915112345678', device_type: '14' }),
    row({
      ...common,
      identifier: 'https://fcm.googleapis.com/fcm/send/abc',
      device_type: '5',
      web_auth: 'auth-secret',
      web_p256: 'public-key',
    }),
    row({
      ...common,
      identifier: 'https://updates.push.services.mozilla.com/wpush/v2/abc',
      device_type: '8',
      web_auth: 'auth-secret',
      web_p256: 'public-key',
    }),
    row({ ...common, identifier: 'https://fcm.googleapis.com/fcm/send/abc', device_type: '5' }),
    row({ ...common, identifier: 'x', device_type: '1', tags: 'plan=pro' }),
    row({ ...common, identifier: 'z', device_type: '1', tags: '{"version":1.10,"plan":"pro"}' }),
    row({ identifier: 'php', device_type: '1', tags: '[]' }),
    row({ identifier: 'y', device_type: '1', last_active: '2027-02-30 08:00:00 UTC' }),
  ].join('\r\n');
  t.same((await readAll(oneSignalFormat, file)).map(describe), [
    `2 3 ${APNS} 3.2.0 1756800000000 [plan:pro,tennis,goals,level:4]`,
    '3 15 cJ4:APA91bHbYHk7 null 1731225600000 []',
    '4 passed: 15 unsubscribed (invalid_identifier)',
    '5 passed: 15 without a token',
    '6 passed: 15 opted out (notification_types)',
    '7 passed: 3 opted out (notification_types)',
    '8 15 on null 1756800000000 []',
    '9 passed: of a kind that is not pushed to (device_type)',
    '10 passed: of a kind that is not pushed to (device_type)',
    '11 7 {"endpoint":"https://fcm.googleapis.com/fcm/send/abc","expirationTime":null,"keys":{"p256dh":"public-key","auth":"auth-secret"}} null 1756800000000 []',
    '12 7 {"endpoint":"https://updates.push.services.mozilla.com/wpush/v2/abc","expirationTime":null,"keys":{"auth":"auth-secret","p256dh":"public-key"}} null 1756800000000 []',
    '13 passed: 7 without web_auth and web_p256',
    '14 tags must be a JSON object.',
    '15 the tag version is written 1.10 and would arrive as 1.1; write it as a string.',
    '16 15 php null null []',
    '17 15 y null null []',
  ]);
});

t.test('a column that says who is subscribed', async (t) => {
  const file = 'identifier,device_type,subscribed\na,1,true\nb,1,false\nc,0,No\nd,1,\n';
  t.same((await readAll(oneSignalFormat, file)).map(describe), [
    '2 15 a null null []',
    '3 passed: 15 opted out (subscribed)',
    '4 passed: 3 opted out (subscribed)',
    '5 15 d null null []',
  ]);
});
