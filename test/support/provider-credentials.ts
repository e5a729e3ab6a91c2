/** Invented credentials: fresh keys in the right forms. */

import { generateKeyPairSync } from 'node:crypto';
import type { ApnsCredential } from '../../src/providers/apns/credential.ts';
import type { CredentialFault } from '../../src/providers/credential-form.ts';
import type { FcmCredential } from '../../src/providers/fcm/credential.ts';
import type { WebPushCredential } from '../../src/providers/webpush/credential.ts';
import { generateVapidKeys } from '../../src/providers/webpush/credential-form.ts';

const pem = { type: 'pkcs8', format: 'pem' } as const;

export const ecKeys = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
export const rsaKeys = () => generateKeyPairSync('rsa', { modulusLength: 2_048 });

/** The sentence for people. */
export const sentenceOf = ({ path, message }: CredentialFault): string =>
  `${path === '' ? 'The credential' : path} ${message}.`;

export function apnsCredential(keys = ecKeys('P-256')): ApnsCredential {
  return {
    kind: 'apns',
    teamId: 'TEAM123456',
    keyId: 'KEY1234567',
    privateKey: keys.privateKey.export(pem).toString(),
    bundleId: 'com.example.news',
    environment: 'production',
  };
}

export function fcmCredential(keys = rsaKeys()): FcmCredential {
  return {
    kind: 'fcm',
    serviceAccount: {
      project_id: 'news-project',
      private_key_id: 'abc123',
      private_key: keys.privateKey.export(pem).toString(),
      client_email: 'push@news-project.iam.gserviceaccount.com',
    },
  };
}

export function webPushCredential(
  serviceAccount: WebPushCredential['serviceAccount'] = null,
): WebPushCredential {
  const vapid = { ...generateVapidKeys(), subject: 'mailto:push@example.com' };
  return { kind: 'webpush', vapid, serviceAccount };
}
