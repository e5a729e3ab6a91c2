import t from 'tap';
import { PLATFORM_APNS, PLATFORM_FCM, PLATFORM_WEB_PUSH } from '../../src/domain/device.ts';
import type { Payload } from '../../src/domain/notification.ts';
import { payloadFaults } from '../../src/senders/payload-size.ts';

const ALL = [PLATFORM_APNS, PLATFORM_WEB_PUSH, PLATFORM_FCM, PLATFORM_APNS] as const;
const withMessage = (length: number): Payload => ({ message: 'x'.repeat(length), data: {} });

t.test('names platform, size and limit, once for each platform', (t) => {
  t.same(payloadFaults(withMessage(100), ALL), []);
  const faults = payloadFaults(withMessage(5_000), ALL);
  t.same(
    faults.map(({ path }) => path),
    ['payload', 'payload', 'payload'],
  );
  t.match(faults[0]?.message, '5029 bytes once rendered for platform 3 (APNs); the limit is 4096');
  t.match(faults[1]?.message, 'platform 7 (Web Push); the limit is 3993');
  t.match(faults[2]?.message, 'platform 15 (FCM); the limit is 4096');
  t.end();
});

t.test('4,096 bytes fit, one more does not', (t) => {
  t.same(payloadFaults(withMessage(4_096 - 29), [PLATFORM_APNS]), []);
  t.equal(payloadFaults(withMessage(4_096 - 28), [PLATFORM_APNS]).length, 1);
  t.end();
});

t.test('an encrypted message has 103 octets less', (t) => {
  t.same(payloadFaults(withMessage(3_993 - 11), [PLATFORM_WEB_PUSH]), []);
  t.equal(payloadFaults(withMessage(3_993 - 10), [PLATFORM_WEB_PUSH]).length, 1);
  t.end();
});

t.test('what was written for one provider counts there only', (t) => {
  const payload: Payload = { data: {}, fcm: { data: { x: 'y'.repeat(5_000) } } };
  t.same(payloadFaults(payload, [PLATFORM_APNS]), []);
  t.equal(payloadFaults(payload, [PLATFORM_FCM]).length, 1);
  t.end();
});
