import { createECDH, createPrivateKey } from 'node:crypto';
import t from 'tap';
import { parseProviderCredential } from '../../../src/provider-credentials/provider-credentials.ts';
import { generateVapidKeys } from '../../../src/providers/webpush/credential-form.ts';
import { WEB_PUSH } from '../../../src/providers/webpush/provider.ts';
import { DEFAULT_ORIGINS } from '../../support/default-origins.ts';
import {
  ecKeys,
  fcmCredential,
  rsaKeys,
  sentenceOf,
  webPushCredential,
} from '../../support/provider-credentials.ts';

const subject = 'mailto:push@example.com';
const pem = { type: 'pkcs8', format: 'pem' } as const;

const parse = (input: unknown) => parseProviderCredential(7, input, DEFAULT_ORIGINS);
const faultsOf = async (vapid: unknown): Promise<readonly string[]> => {
  const parsed = await parse({ vapid });
  return parsed.ok ? [] : parsed.faults.map(sentenceOf);
};

t.test('the key in base64url or as a PEM, with or without its public half', async (t) => {
  const keys = generateVapidKeys();
  t.equal(Buffer.from(keys.privateKey, 'base64url').length, 32);
  t.equal(Buffer.from(keys.publicKey, 'base64url').length, 65);
  const credential = { kind: 'webpush', vapid: { ...keys, subject }, serviceAccount: null };
  t.same(await parse({ vapid: { ...keys, subject } }), { ok: true, credential });
  t.same(await parse({ vapid: { privateKey: `${keys.privateKey}\n`, subject } }), {
    ok: true,
    credential,
  });
  const point = Buffer.from(keys.publicKey, 'base64url');
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const jwk = { kty: 'EC', crv: 'P-256', d: keys.privateKey, x, y };
  const privateKey = String(createPrivateKey({ key: jwk, format: 'jwk' }).export(pem));
  t.same(await parse({ vapid: { privateKey, subject } }), { ok: true, credential });
});

t.test('a key that begins with zeros keeps its 32 octets', async (t) => {
  const privateKey = Buffer.alloc(32, 0).fill(7, 30).toString('base64url');
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(Buffer.from(privateKey, 'base64url'));
  const publicKey = pair.getPublicKey().toString('base64url');
  t.match(await parse({ vapid: { privateKey, publicKey, subject } }), {
    ok: true,
    credential: { vapid: { privateKey, publicKey } },
  });
});

t.test('an account beside the keys, or alone', async (t) => {
  const { serviceAccount } = fcmCredential();
  t.same(await parse({ serviceAccount }), {
    ok: true,
    credential: { kind: 'webpush', vapid: null, serviceAccount },
  });
  const vapid = { ...generateVapidKeys(), subject };
  t.same(await parse({ vapid, serviceAccount }), {
    ok: true,
    credential: { kind: 'webpush', vapid, serviceAccount },
  });
  const broken = { ...serviceAccount, client_email: 'nobody' };
  t.same(await parse({ vapid: { ...vapid, subject: 'x' }, serviceAccount: broken }), {
    ok: false,
    faults: [
      {
        path: 'vapid.subject',
        message: 'must be mailto: with an e-mail address, or an https: URL',
      },
      { path: 'serviceAccount.client_email', message: 'is not an e-mail address' },
    ],
  });
});

t.test('each fault is one sentence that names its field', async (t) => {
  const keys = generateVapidKeys();
  const rows: readonly (readonly [vapid: unknown, fault: string])[] = [
    [7, 'vapid must be an object with privateKey and subject.'],
    [{ subject }, 'vapid.privateKey is missing.'],
    [keys, 'vapid.subject is missing.'],
    [
      { privateKey: 'c2hvcnQ', subject },
      'vapid.privateKey is neither 32 octets in base64url nor a private key in PKCS 8 PEM form.',
    ],
    [
      { privateKey: Buffer.alloc(32).toString('base64url'), subject },
      'vapid.privateKey is no private key of P-256.',
    ],
    [
      { privateKey: Buffer.alloc(32, 0xff).toString('base64url'), subject },
      'vapid.privateKey is no private key of P-256.',
    ],
    [
      { privateKey: ecKeys('secp384r1').privateKey.export(pem), subject },
      'vapid.privateKey is a key that is not P-256.',
    ],
    [
      { privateKey: rsaKeys().privateKey.export(pem), subject },
      'vapid.privateKey is a key that is not P-256.',
    ],
    [
      { privateKey: '-----BEGIN PRIVATE KEY-----\nAAAA', subject },
      'vapid.privateKey is not a private key in PKCS 8 PEM form.',
    ],
    [
      { ...keys, publicKey: generateVapidKeys().publicKey, subject },
      'vapid.publicKey is not the public half of privateKey.',
    ],
  ];
  for (const [vapid, fault] of rows) t.same(await faultsOf(vapid), [fault]);
});

t.test('a subject that push services take', async (t) => {
  const keys = generateVapidKeys();
  const fault = async (of: string) => (await faultsOf({ ...keys, subject: of }))[0];
  for (const good of ['mailto:a@b.example', 'https://example.com/push', 'https://a.example']) {
    t.equal(await fault(good), undefined, good);
  }
  for (const bad of ['a@b.example', 'http://a.example', 'mailto:', 'mailto: a@b.example']) {
    t.match(await fault(bad), /must be mailto: with an e-mail address, or an https: URL/, bad);
  }
  for (const bad of ['mailto:<a@b.example>', 'https://a example', 'https://', 'ftp://a.example']) {
    t.match(await fault(bad), /must be mailto: with an e-mail address, or an https: URL/, bad);
  }
  for (const bad of ['mailto:a@localhost', 'https://localhost/x', 'mailto:a@b.invalid']) {
    t.match(await fault(bad), /must be reachable from elsewhere/, bad);
  }
});

t.test('what web pages subscribe with is told, of keys only', (t) => {
  const { vapid } = webPushCredential();
  t.equal(
    WEB_PUSH.publicNote({ kind: 'webpush', vapid, serviceAccount: null }),
    `Web pages subscribe with applicationServerKey ${vapid?.publicKey}`,
  );
  const { serviceAccount } = fcmCredential();
  t.equal(WEB_PUSH.publicNote({ kind: 'webpush', vapid: null, serviceAccount }), null);
  t.end();
});
