/**
 * Our encryption of a Web Push, and beside it nothing but the cryptographic operations that RFC
 * 8291 prescribes.
 */

import { createCipheriv, createECDH, createHmac, randomBytes } from 'node:crypto';
import type { Recipient } from '../../../src/providers/webpush/encryption.ts';
import {
  AUTH_SECRET_OCTETS,
  encrypt,
  recordOf,
} from '../../../src/providers/webpush/encryption.ts';
import { median } from '../../median.ts';
import type { LatencyRow } from './compare.ts';

const ROUNDS = 9;
const MESSAGES = 2_000;
const MESSAGE_OCTETS = 200;
/** Each has keys of its own, as browsers do. */
const RECIPIENTS = 1_000;

export function measureEncryption() {
  const recipients = Array.from({ length: RECIPIENTS }, makeRecipient);
  const record = recordOf(randomBytes(MESSAGE_OCTETS));
  const entrants = [
    { name: 'our encryption', micros: [] as number[], run: encrypt },
    { name: 'bare cryptography', micros: [] as number[], run: bareOperations },
  ];
  // The first round is for the code to become hot.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { run, micros } of entrants) {
      const each = cpuMicrosOf(() => {
        for (const recipient of messagesTo(recipients)) run(record, recipient);
      });
      if (round > 0) micros.push(each / MESSAGES);
    }
  }
  const rows = entrants.map(({ name, micros }) => rowOf(name, median(micros)));
  const [ours, bare] = rows;
  const overBareCrypto =
    ours === undefined || bare === undefined ? null : ours.cpuMicros / bare.cpuMicros;
  return { rows, overBareCrypto };
}

function* messagesTo(recipients: readonly Recipient[]): Generator<Recipient> {
  for (let sent = 0; sent < MESSAGES; sent += 1) {
    const recipient = recipients[sent % recipients.length];
    if (recipient !== undefined) yield recipient;
  }
}

function cpuMicrosOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function makeRecipient(): Recipient {
  return {
    publicKey: createECDH('prime256v1').generateKeys(),
    authSecret: randomBytes(AUTH_SECRET_OCTETS),
  };
}

const KEY = randomBytes(32);
const CONTENT_KEY = randomBytes(16);
const NONCE = randomBytes(12);
/** One object for all key pairs and HMACs for HKDF, which are the cheapest forms of them. */
const ECDH = createECDH('prime256v1');

/**
 * A key pair, ECDH, HKDF twice with three outputs (five HMACs), AES-GCM; what goes in is at hand,
 * what comes out is dropped.
 */
function bareOperations(record: Buffer, { publicKey }: Recipient): void {
  ECDH.generateKeys();
  ECDH.computeSecret(publicKey);
  for (let hmac = 0; hmac < 5; hmac += 1) createHmac('sha256', KEY).update(KEY).digest();
  const cipher = createCipheriv('aes-128-gcm', CONTENT_KEY, NONCE);
  cipher.update(record);
  cipher.final();
  cipher.getAuthTag();
}

const rowOf = (name: string, cpuMicros: number): LatencyRow => ({
  to: 'web push',
  name,
  roundTripMs: null,
  connections: null,
  perSecond: null,
  fullSpeedMs: null,
  cpuMicros,
});
