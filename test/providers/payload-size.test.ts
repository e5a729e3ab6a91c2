import t from 'tap';
import { PLATFORMS } from '../../packages/std/src/platforms.ts';
import type { Payload } from '../../src/domain/notification.ts';
import { payloadFaults } from '../../src/providers/payload-size.ts';
import { parsePayload } from '../support/parse-payload.ts';

const ALL = [PLATFORMS.apns, PLATFORMS.webpush, PLATFORMS.fcm, PLATFORMS.apns] as const;
const withMessage = (length: number): Payload => ({ message: 'x'.repeat(length), data: {} });

t.test('names platform, size and limit, once for each platform', (t) => {
  t.same(payloadFaults(withMessage(100), ALL), []);
  const faults = payloadFaults(withMessage(5_000), ALL);
  t.same(
    faults.map(({ path }) => path),
    ['payload', 'payload', 'payload'],
  );
  t.match(faults[0]?.message, '5077 bytes once rendered for platform 3 (APNs); the limit is 4096');
  t.match(faults[1]?.message, 'platform 7 (Web Push); the limit is 3993');
  t.match(faults[2]?.message, 'platform 15 (FCM); the limit is 4096');
  t.end();
});

t.test('4,096 bytes fit, one more does not', (t) => {
  t.same(payloadFaults(withMessage(4_096 - 77), [PLATFORMS.apns]), []);
  t.equal(payloadFaults(withMessage(4_096 - 76), [PLATFORMS.apns]).length, 1);
  t.end();
});

t.test('an encrypted message has 103 octets less', (t) => {
  t.same(payloadFaults(withMessage(3_993 - 59), [PLATFORMS.webpush]), []);
  t.equal(payloadFaults(withMessage(3_993 - 58), [PLATFORMS.webpush]).length, 1);
  t.end();
});

t.test('copies are not counted where the message fits without them', (t) => {
  t.same(payloadFaults(withMessage(3_900), [PLATFORMS.fcm]), []);
  const shown: Payload = { ...withMessage(3_800), title: 'x', url: 'https://example.com/' };
  t.same(payloadFaults({ ...shown, url: 'https://example.com/' }, [PLATFORMS.webpush]), []);
  t.end();
});

t.test('an identity makes no message too large, unless it is asked for', (t) => {
  for (const platformId of ALL) {
    const isTooLarge = (length: number, more: Partial<Payload> = {}) =>
      payloadFaults({ ...withMessage(length), ...more }, [platformId]).length > 0;
    const without = { replaceableDefault: false } as const;
    const differing = Array.from({ length: 400 }, (_, index) => 3_700 + index).filter(
      (length) => isTooLarge(length) !== isTooLarge(length, without),
    );
    t.same(differing, []);
  }
  const asked = { present: { replaceable: true } };
  t.same(payloadFaults({ ...withMessage(4_096 - 77), ...asked }, [PLATFORMS.apns]), []);
  t.equal(payloadFaults({ ...withMessage(3_993 - 59), ...asked }, [PLATFORMS.webpush]).length, 1);
  t.equal(payloadFaults({ ...withMessage(4_000), ...asked }, [PLATFORMS.fcm]).length, 1);
  t.end();
});

t.test('what was written for one provider counts there only', (t) => {
  const payload: Payload = { data: {}, fcm: { data: { x: 'y'.repeat(5_000) } } };
  t.same(payloadFaults(payload, [PLATFORMS.apns]), []);
  t.equal(payloadFaults(payload, [PLATFORMS.fcm]).length, 1);
  t.end();
});

/** The paths of the faults of a payload as a publisher writes it. */
const pathsOf = (given: object, ...platformIds: readonly (3 | 7 | 15)[]): readonly string[] => {
  const parsed = parsePayload(given);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return payloadFaults(parsed.payload, platformIds).map(({ path }) => path);
};

t.test('names that FCM reserves, wherever it gets them, and nowhere else', (t) => {
  for (const key of [
    'from',
    'message_type',
    'google',
    'gcm',
    'google.c.a.e',
    'gcm.notification.x',
  ]) {
    const named = { [key]: '1' };
    for (const platformId of [7, 15] as const) {
      t.same(pathsOf({ data: named }, platformId), [`payload.data.${key}`]);
      t.same(pathsOf(named, platformId), [`payload.data.${key}`]);
    }
    t.same(pathsOf({ fcm: { data: named } }, 15), [`payload.fcm.data.${key}`]);
    t.same(pathsOf({ fcm: { android: { data: named } } }, 15), [`payload.fcm.android.data.${key}`]);
    t.same(pathsOf({ data: named }, 3), [], 'APNs does not');
    t.same(pathsOf({ data: named }, 3, 7, 15), [`payload.data.${key}`], 'said once');
  }
  for (const key of ['googleMapsUrl', 'gcmToken', 'gcm.x', 'fromDate', 'messageType']) {
    const named = { [key]: '1' };
    t.same(pathsOf({ data: named, fcm: { data: named, android: { data: named } } }, 15), [], key);
  }
  t.same(pathsOf({ aps: { alert: 'x' } }, 3), ['payload.data.aps']);
  t.same(pathsOf({ aps: { alert: 'x' } }, 15), []);
  t.end();
});

t.test('overlays that a provider would refuse or overlook', (t) => {
  const fcm = (over: object, more: object = {}) => pathsOf({ title: 'a', fcm: over, ...more }, 15);
  t.same(fcm({ message: { android: {} } }), ['payload.fcm.message']);
  t.same(fcm({ validateOnly: true, priority: 'high' }), [
    'payload.fcm.validateOnly',
    'payload.fcm.priority',
  ]);
  const key = ['payload.fcm.android.collapseKey'];
  t.same(fcm({ android: { collapseKey: 'a' } }, { collapseId: 'b' }), key);
  t.same(fcm({ android: { collapseKey: 'a', collapse_key: 'b' } }), key);
  t.same(fcm({ android: { collapseKey: 'a' } }), []);
  for (const ttl of [3_600_000, '3600', '3600000ms', '2419201s']) {
    t.same(fcm({ android: { ttl } }), ['payload.fcm.android.ttl'], String(ttl));
  }
  for (const ttl of ['3600s', '0s', '3.5s', null]) t.same(fcm({ android: { ttl } }), []);
  t.same(fcm({ android: { priority: 10 } }), ['payload.fcm.android.priority']);
  t.same(fcm({ android: { priority: 'HIGH', notification: { sound: 'a' } } }), []);
  t.same(pathsOf({ title: 'a', fcm: { message: {} } }, 3), [], 'it does not go there');

  const apns = (over: object, more: object = {}) => pathsOf({ title: 'a', apns: over, ...more }, 3);
  t.same(apns({ headers: { 'apns-priority': '5' }, payload: { aps: {} } }), [
    'payload.apns.headers',
    'payload.apns.payload',
  ]);
  t.same(apns({ 'apns-push-type': 'voip' }), ['payload.apns.apns-push-type']);
  t.same(apns({ aps: 'x' }), ['payload.apns.aps']);
  t.same(apns({ aps: [], payload: 'text' }), []);
  t.same(pathsOf({ title: 'a', apns: { headers: {} } }, 15), []);
  t.same(pathsOf({ title: 'a', webpush: { headers: { TTL: '5' } } }, 7), [
    'payload.webpush.headers',
  ]);
  t.end();
});

t.test('a type of APNs has its own size, and fits what is sent', (t) => {
  const long = { data: { x: 'x'.repeat(5_000) } };
  t.same(pathsOf({ ...long, apnsPushType: 'voip' }, 3), []);
  t.same(pathsOf({ ...long, apnsPushType: 'location' }, 3), ['payload']);
  t.same(pathsOf({ title: 'a', apnsPushType: 'background' }, 3), ['payload.apnsPushType']);
  t.same(pathsOf({ data: { a: 1 }, apnsPushType: 'background' }, 3), ['payload.apnsPushType']);
  t.same(pathsOf({ silent: true, title: 'a', apnsPushType: 'background' }, 3), []);
  t.same(pathsOf({ title: 'a', apnsPushType: 'background' }, 15), []);
  t.end();
});
