import { decodeJwt, importJWK, jwtVerify } from 'jose';
import t from 'tap';
import { VapidSigner, VapidToken } from '../../../src/providers/webpush/credentials.ts';
import { VAPID_LIFETIME_MS } from '../../../src/providers/webpush/settings.ts';
import { webPushCredential } from '../../support/provider-credentials.ts';

const VALUE = /^vapid t=([\w.-]+), k=([\w-]+)$/;
const ORIGIN = 'https://updates.push.services.mozilla.com';

t.test('a token that the public key verifies, for one origin', async (t) => {
  const { vapid } = webPushCredential();
  if (vapid === null) throw new Error('no keys');
  const nowMs = Date.now();
  const [, token = '', publicKey = ''] =
    VALUE.exec(new VapidSigner(vapid).sign(ORIGIN, nowMs)) ?? [];
  t.equal(publicKey, vapid.publicKey);
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = await importJWK({ kty: 'EC', crv: 'P-256', x, y }, 'ES256');
  const { payload, protectedHeader } = await jwtVerify(token, key, { audience: ORIGIN });
  t.same(protectedHeader, { typ: 'JWT', alg: 'ES256' });
  t.same(payload, {
    aud: ORIGIN,
    exp: Math.floor((nowMs + VAPID_LIFETIME_MS) / 1_000),
    sub: 'mailto:push@example.com',
  });
});

t.test('the same token until it nears its end', (t) => {
  const { vapid } = webPushCredential();
  if (vapid === null) throw new Error('no keys');
  const token = new VapidToken(new VapidSigner(vapid), ORIGIN);
  const hour = 3_600_000;
  const first = token.current(0, 5);
  t.equal(token.current(10 * hour, 10 * hour + 5), first);
  const second = token.current(11 * hour, 11 * hour + 5);
  t.not(second, first);
  const [, text = ''] = VALUE.exec(second) ?? [];
  t.equal(decodeJwt(text).exp, (11 * hour + VAPID_LIFETIME_MS) / 1_000);
  t.end();
});

t.test('a token that a wrong clock has signed goes when the clock is put right', (t) => {
  const { vapid } = webPushCredential();
  if (vapid === null) throw new Error('no keys');
  const token = new VapidToken(new VapidSigner(vapid), ORIGIN);
  const hour = 3_600_000;
  const now = 1_000 * hour;
  token.current(now + 30 * hour, 0);
  const [, text = ''] = VALUE.exec(token.current(now, 1_000)) ?? [];
  t.equal(decodeJwt(text).exp, (now + VAPID_LIFETIME_MS) / 1_000, 'services take 24 hours');
  t.equal(token.current(now + 59_000, 1_000), token.current(now, 1_000), 'it drifts');
  t.end();
});
