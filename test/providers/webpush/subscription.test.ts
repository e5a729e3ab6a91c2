import { createECDH } from 'node:crypto';
import t from 'tap';
import { readDevice } from '../../../src/providers/webpush/subscription.ts';

const keys = createECDH('prime256v1');
const publicKey = keys.generateKeys();
const authSecret = Buffer.alloc(16, 0xfb);
const NOW_MS = 1_000_000;

const SUBSCRIPTION = {
  endpoint: 'https://Push.Example.com/send/abc?x=1',
  expirationTime: null,
  keys: { p256dh: publicKey.toString('base64url'), auth: authSecret.toString('base64url') },
};

t.test('the JSON of a PushSubscription', (t) => {
  t.same(readDevice(JSON.stringify(SUBSCRIPTION), NOW_MS), {
    kind: 'subscription',
    origin: 'https://push.example.com',
    path: '/send/abc?x=1',
    recipient: { publicKey, authSecret },
  });
  const padded = { p256dh: publicKey.toString('base64'), auth: authSecret.toString('base64') };
  const later = { ...SUBSCRIPTION, keys: padded, expirationTime: NOW_MS + 1, more: 'ignored' };
  t.match(readDevice(` \n${JSON.stringify(later, null, 2)}`, NOW_MS), {
    kind: 'subscription',
    recipient: { publicKey, authSecret },
  });
  const odd = { ...SUBSCRIPTION, endpoint: 'https://push.example.com/a b\r\nx: y/ü?"#part' };
  t.match(readDevice(JSON.stringify(odd), NOW_MS), { path: '/a%20bx:%20y/%C3%BC?%22' });
  t.end();
});

t.test('a subscription whose time is over', (t) => {
  const expired = JSON.stringify({ ...SUBSCRIPTION, expirationTime: NOW_MS });
  t.same(readDevice(expired, NOW_MS), { kind: 'unusable', reason: 'SubscriptionExpired' });
  t.end();
});

t.test('an address that the browser has put in the place of its endpoint', (t) => {
  for (const host of ['permanently-removed.invalid', 'Invalid', 'a.b.invalid.', 'x.invalid:8443']) {
    const removed = { ...SUBSCRIPTION, endpoint: `https://${host}/fcm/send/abc` };
    t.same(readDevice(JSON.stringify(removed), NOW_MS), { kind: 'removed' }, host);
  }
  for (const host of ['invalid.example.com', 'notinvalid', 'permanently-removed.invalid.com']) {
    const there = { ...SUBSCRIPTION, endpoint: `https://${host}/fcm/send/abc` };
    t.match(readDevice(JSON.stringify(there), NOW_MS), { kind: 'subscription' }, host);
  }
  t.end();
});

t.test('everything else that begins as JSON is no subscription', (t) => {
  const { endpoint, keys: good } = SUBSCRIPTION;
  const bad: readonly unknown[] = [
    '{',
    '{"endpoint":',
    {},
    { endpoint },
    { endpoint, keys: null },
    { endpoint, keys: { ...good, auth: 'c2hvcnQ' } },
    { endpoint, keys: { ...good, auth: 16 } },
    { endpoint, keys: { ...good, p256dh: good.p256dh.slice(0, -2) } },
    { endpoint, keys: { ...good, p256dh: Buffer.alloc(65, 2).toString('base64url') } },
    { endpoint: 'not a url', keys: good },
    { endpoint: 'http://push.example.com/x', keys: good },
    { endpoint: 'https://user@push.example.com/x', keys: good },
    { endpoint: 'https://:secret@push.example.com/x', keys: good },
    { endpoint: 'file:///etc/passwd', keys: good },
    { endpoint: ['https://push.example.com/x'], keys: good },
    { endpoint: `https://push.example.com/${'x'.repeat(2_048)}`, keys: good },
    { endpoint: `https://push.example.com/x?${'ü'.repeat(400)}`, keys: good },
  ];
  for (const value of bad) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    t.same(readDevice(text, NOW_MS), { kind: 'unusable', reason: 'BadSubscription' }, text);
  }
  t.end();
});

t.test('any other text is an FCM token', (t) => {
  for (const text of ['dRh8:APA91b-x_y', 'x', '[1]', '"quoted"']) {
    t.same(readDevice(text, NOW_MS), { kind: 'fcm-token' }, text);
  }
  t.end();
});
