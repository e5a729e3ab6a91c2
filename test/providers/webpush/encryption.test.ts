import type { webcrypto } from 'node:crypto';
import { createECDH, subtle } from 'node:crypto';
import t from 'tap';
import { encrypt, encryptWith, recordOf } from '../../../src/providers/webpush/encryption.ts';
import { WEB_PUSH_PAYLOAD_BYTES_MAX } from '../../../src/providers/webpush/settings.ts';

const octets = (text: string): Buffer => Buffer.from(text, 'base64url');

/** RFC 8291, section 5 and appendix A. */
const EXAMPLE = {
  plaintext: octets('V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24'),
  senderPrivate: octets('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
  receiverPublic: octets(
    'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  ),
  authSecret: octets('BTBZMqHH6r4Tts7J_aSIgg'),
  salt: octets('DGv6ra1nlYgDCS1FRnbzlw'),
  body: octets(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  ),
};

/**
 * A browser, by Web Crypto: another implementation of the curve's arithmetic and of HKDF than the
 * one under test.
 */
class Browser {
  readonly publicKey: Buffer;
  readonly authSecret = Buffer.from('sixteen octets!!');
  readonly #keys: webcrypto.CryptoKeyPair;

  constructor(keys: webcrypto.CryptoKeyPair, publicKey: Buffer) {
    this.#keys = keys;
    this.publicKey = publicKey;
  }

  static async make(): Promise<Browser> {
    const curve = { name: 'ECDH', namedCurve: 'P-256' };
    const keys = (await subtle.generateKey(curve, false, [
      'deriveBits',
    ])) as webcrypto.CryptoKeyPair;
    return new Browser(keys, Buffer.from(await subtle.exportKey('raw', keys.publicKey)));
  }

  async read(body: Buffer): Promise<Buffer> {
    const salt = body.subarray(0, 16);
    const senderKey = body.subarray(21, 21 + body.readUInt8(20));
    const curve = { name: 'ECDH', namedCurve: 'P-256' };
    const imported = await subtle.importKey('raw', senderKey, curve, false, []);
    const shared = await subtle.deriveBits(
      { name: 'ECDH', public: imported },
      this.#keys.privateKey,
      256,
    );
    const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), this.publicKey, senderKey]);
    const material = await hkdf(shared, this.authSecret, keyInfo, 32);
    const key = await hkdf(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
    const nonce = await hkdf(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
    const aes = await subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt']);
    const algorithm = { name: 'AES-GCM', iv: nonce };
    return Buffer.from(await subtle.decrypt(algorithm, aes, body.subarray(21 + senderKey.length)));
  }
}

async function hkdf(material: ArrayBuffer, salt: Buffer, info: Buffer, length: number) {
  const key = await subtle.importKey('raw', material, 'HKDF', false, ['deriveBits']);
  return subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt, info }, key, length * 8);
}

t.test('the example of RFC 8291, octet for octet', (t) => {
  const keys = createECDH('prime256v1');
  keys.setPrivateKey(EXAMPLE.senderPrivate);
  const recipient = { publicKey: EXAMPLE.receiverPublic, authSecret: EXAMPLE.authSecret };
  const body = encryptWith(recordOf(EXAMPLE.plaintext), recipient, keys, EXAMPLE.salt);
  t.equal(body.toString('base64url'), EXAMPLE.body.toString('base64url'));
  t.end();
});

t.test('a browser reads what was encrypted for it, whatever its length', async (t) => {
  const browser = await Browser.make();
  for (const length of [0, 1, 200, WEB_PUSH_PAYLOAD_BYTES_MAX]) {
    const plaintext = Buffer.alloc(length, 'ä');
    const body = encrypt(recordOf(plaintext), browser);
    t.equal(body.length, length + 103);
    const read = await browser.read(body);
    t.same(read.subarray(0, -1), plaintext);
    t.equal(read.at(-1), 2, 'the delimiter of the last record');
  }
});

t.test('the longest message fits into what every service takes', (t) => {
  const recipient = { publicKey: EXAMPLE.receiverPublic, authSecret: EXAMPLE.authSecret };
  const longest = Buffer.alloc(WEB_PUSH_PAYLOAD_BYTES_MAX);
  t.equal(encrypt(recordOf(longest), recipient).length, 4_096);
  t.end();
});

t.test('a key pair and a salt of its own for each message', async (t) => {
  const browser = await Browser.make();
  const record = recordOf(Buffer.from('the same'));
  const seen = new Set<string>();
  const messages = 600;
  for (let sent = 0; sent < messages; sent += 1) {
    const body = encrypt(record, browser);
    seen.add(body.toString('latin1', 0, 16));
    seen.add(body.toString('latin1', 21, 86));
  }
  t.equal(seen.size, 2 * messages);
});

t.test('another browser cannot read it', async (t) => {
  const [one, other] = [await Browser.make(), await Browser.make()];
  await t.rejects(other.read(encrypt(recordOf(Buffer.from('secret')), one)));
});

t.test('a public key that is no point of the curve throws', (t) => {
  const publicKey = Buffer.alloc(65, 7);
  publicKey[0] = 4;
  t.throws(() =>
    encrypt(recordOf(Buffer.from('x')), { publicKey, authSecret: EXAMPLE.authSecret }),
  );
  t.end();
});
