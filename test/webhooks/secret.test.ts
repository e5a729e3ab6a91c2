/** Secrets and signatures: the published library of Standard Webhooks checks them. */

import { Webhook } from 'standardwebhooks';
import t from 'tap';
import {
  makeWebhookSecret,
  openWebhookSecret,
  sealWebhookSecret,
  signatureOf,
} from '../../src/webhooks/secret.ts';
import { secrets } from '../support/api.ts';

t.test('a signature is right for its secret, id, time and body, and for nothing else', (t) => {
  const [secret, other] = [makeWebhookSecret(), makeWebhookSecret()];
  t.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const body = '{"type":"events"}';
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  const signed = (keys: readonly string[]) => ({
    'webhook-id': 'one',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signatureOf(keys, { id: 'one', timestampSeconds, body }),
  });
  const verify = (key: string, headers: Record<string, string>, text = body) =>
    new Webhook(key).verify(text, headers);
  t.same(verify(secret, signed([secret])), JSON.parse(body));
  t.same(verify(secret, signed([other, secret])), JSON.parse(body), 'one of two will do');
  t.throws(() => verify(secret, signed([other])));
  t.throws(() => verify(secret, signed([secret]), `${body} `));
  t.throws(() => verify(secret, { ...signed([secret]), 'webhook-id': 'two' }));
  t.throws(() =>
    verify(secret, { ...signed([secret]), 'webhook-timestamp': String(timestampSeconds - 1) }),
  );
  t.end();
});

t.test('the vector of the specification', (t) => {
  const signature = signatureOf(['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1_614_265_330,
    body: '{"test": 2432232314}',
  });
  t.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  t.end();
});

t.test('a secret is sealed for its webhook', (t) => {
  const secret = makeWebhookSecret();
  const sealed = sealWebhookSecret(secrets, 1, secret);
  t.notOk(sealed.sealed.includes(secret));
  t.equal(openWebhookSecret(secrets, 1, sealed), secret);
  t.equal(openWebhookSecret(secrets, 2, sealed), null, "another webhook's");
  t.end();
});
