/** Each wrong file and what is said about it: one row each. */

import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { generate } from 'selfsigned';
import t from 'tap';
import { APNS_KEY } from '../../src/providers/apns/credential-form.ts';
import { GOOGLE_KEY } from '../../src/providers/fcm/credential-form.ts';
import { canonicalKey, privateKeyFault } from '../../src/providers/private-key-fault.ts';

const WANTED = { apns: APNS_KEY, fcm: GOOGLE_KEY };
type Signer = keyof typeof WANTED;

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const p256 = ec('prime256v1');
const rsa2048 = rsa(2_048);
const right: Readonly<Record<Signer, string>> = {
  apns: p256.privateKey.export(pkcs8).toString(),
  fcm: rsa2048.privateKey.export(pkcs8).toString(),
};
const cipher = { cipher: 'aes-256-cbc', passphrase: 'secret' } as const;

const rows: readonly (readonly [string, Signer, string, RegExp | null])[] = [
  ['the right key', 'apns', right.apns, null],
  ['the right key', 'fcm', right.fcm, null],
  [
    'RSA for Apple',
    'apns',
    right.fcm,
    /^is a key that is not P-256 \(it is of the kind rsa\): .*\.p8/,
  ],
  [
    'P-256 for Google',
    'fcm',
    right.apns,
    /^is not an RSA key of 2048 bits or more \(it is of the kind ec\)/,
  ],
  [
    'another curve',
    'apns',
    ec('secp384r1').privateKey.export(pkcs8).toString(),
    /^is a key that is not P-256 \(it is on the curve secp384r1\)/,
  ],
  [
    'a short RSA key',
    'fcm',
    rsa(1_024).privateKey.export(pkcs8).toString(),
    /^is not an RSA key of 2048 bits or more \(it has 1024 bits\)/,
  ],
  [
    'an encrypted key',
    'apns',
    p256.privateKey.export({ ...pkcs8, ...cipher }).toString(),
    /^is encrypted with a passphrase: remove it with "openssl pkcs8 /,
  ],
  [
    'an encrypted key of old',
    'fcm',
    rsa2048.privateKey.export({ type: 'pkcs1', format: 'pem', ...cipher }).toString(),
    /^is encrypted with a passphrase/,
  ],
  [
    'SEC 1',
    'apns',
    p256.privateKey.export({ type: 'sec1', format: 'pem' }).toString(),
    /^is in SEC 1 form: convert it with "openssl pkcs8 -topk8 -nocrypt/,
  ],
  [
    'PKCS 1',
    'fcm',
    rsa2048.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    /^is in PKCS 1 form: convert it with/,
  ],
  [
    'PKCS 1 for Apple',
    'apns',
    rsa2048.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
    /^is an RSA key, and APNs takes P-256 only/,
  ],
  [
    'a public key',
    'apns',
    p256.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    /^is the public half of a key: give the file AuthKey_<key id>\.p8/,
  ],
  ['a damaged certificate', 'apns', '-----BEGIN CERTIFICATE-----\nxx', /^is a certificate, and /],
  ['a request', 'apns', '-----BEGIN CERTIFICATE REQUEST-----\n', /^is a certificate request/],
  ['a key for SSH', 'apns', '-----BEGIN OPENSSH PRIVATE KEY-----\n', /^is a key for SSH/],
  [
    '\\n as text',
    'fcm',
    right.fcm.replaceAll('\n', '\\n'),
    /^contains the characters \\n in place/,
  ],
  [
    'a service account',
    'apns',
    '{"type":"service_account"}',
    /^is JSON, as a Google service account/,
  ],
  ['JSON in JSON', 'fcm', ' {"type":"service_account"}', /^is a whole JSON file/],
  ['a .p12 read as text', 'apns', '0\ufffd\u0001\0', /^is a binary file/],
  [
    'only the middle',
    'apns',
    right.apns.split('\n').slice(1, 3).join('\n'),
    /^has no line -----BEGIN/,
  ],
  ['half of it', 'apns', right.apns.slice(0, 80), /^is damaged/],
];

t.test('each wrong file is told what it is, and none is quoted', (t) => {
  for (const [name, signer, text, fault] of rows) {
    const said = privateKeyFault(text, WANTED[signer]);
    if (fault === null) t.equal(said, null, `${name} for ${signer}`);
    else t.match(said, fault, `${name} for ${signer}`);
    t.notOk(said?.includes(text.slice(30, 60)) === true && text.length > 60, 'no secret in it');
    t.notMatch(said, /\.$/, 'the caller ends the sentence');
  }
  t.end();
});

t.test('a certificate is named with its end', async (t) => {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'push' }], {
    keyType: 'ec',
  });
  const said = /^is a certificate \(valid until .*GMT\), and Tagcast signs in to APNs with a key/;
  t.match(privateKeyFault(cert, APNS_KEY), said);
  t.match(privateKeyFault(`${cert}\n${key}`, APNS_KEY), said, 'a PEM file of both');
});

t.test('the same key from two tools is one key', (t) => {
  const written = right.apns.replaceAll('\n', '\r\n');
  t.equal(canonicalKey(written), canonicalKey(right.apns));
  t.equal(privateKeyFault(written, APNS_KEY), null);
  const openssl = execFileSync('openssl', ['pkcs8', '-topk8', '-nocrypt'], { input: right.apns });
  t.equal(canonicalKey(openssl.toString()), canonicalKey(right.apns));
  t.end();
});
