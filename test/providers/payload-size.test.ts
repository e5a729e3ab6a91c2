import t from 'tap';
import { PLATFORM_APNS, PLATFORM_FCM, PLATFORM_WEB_PUSH } from '../../src/domain/device.ts';
import type { Payload } from '../../src/domain/notification.ts';
import { payloadFaults } from '../../src/providers/payload-size.ts';

const ALL = [PLATFORM_APNS, PLATFORM_WEB_PUSH, PLATFORM_FCM, PLATFORM_APNS] as const;
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
  t.same(payloadFaults(withMessage(4_096 - 77), [PLATFORM_APNS]), []);
  t.equal(payloadFaults(withMessage(4_096 - 76), [PLATFORM_APNS]).length, 1);
  t.end();
});

t.test('an encrypted message has 103 octets less', (t) => {
  t.same(payloadFaults(withMessage(3_993 - 59), [PLATFORM_WEB_PUSH]), []);
  t.equal(payloadFaults(withMessage(3_993 - 58), [PLATFORM_WEB_PUSH]).length, 1);
  t.end();
});

t.test('copies are not counted where the message fits without them', (t) => {
  t.same(payloadFaults(withMessage(3_900), [PLATFORM_FCM]), []);
  const shown: Payload = { ...withMessage(3_800), title: 'x', url: 'https://example.com/' };
  t.same(payloadFaults({ ...shown, url: 'https://example.com/' }, [PLATFORM_WEB_PUSH]), []);
  t.end();
});

t.test('what was written for one provider counts there only', (t) => {
  const payload: Payload = { data: {}, fcm: { data: { x: 'y'.repeat(5_000) } } };
  t.same(payloadFaults(payload, [PLATFORM_APNS]), []);
  t.equal(payloadFaults(payload, [PLATFORM_FCM]).length, 1);
  t.end();
});
