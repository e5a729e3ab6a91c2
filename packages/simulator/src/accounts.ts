/**
 * Provider accounts as Apple and Google issue them: an engine needs them to send through the
 * simulator. The private keys are worthless anywhere else.
 */

import { createPrivateKey, generateKeyPair, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { z } from 'zod';

const name = z.string().min(1).max(255);

export const accountsSchema = z.strictObject({
  apns: z.strictObject({
    teamId: name,
    keyId: name,
    /** PKCS 8 PEM. */
    privateKey: z.string().refine(isP256Key, 'Expected a PKCS 8 PEM of a P-256 key'),
    bundleId: name,
  }),
  fcm: z.strictObject({
    /**
     * The fields of Google's service account file that are used; a real file's other fields are
     * dropped.
     */
    serviceAccount: z.object({
      type: z.literal('service_account'),
      project_id: name,
      private_key_id: name,
      /** PKCS 8 PEM. */
      private_key: z.string().refine(isRsaKey, 'Expected a PKCS 8 PEM of an RSA key'),
      client_email: name,
      token_uri: z.url(),
    }),
  }),
});

export type ProviderAccounts = Readonly<z.infer<typeof accountsSchema>>;

/** The URI in every real service account file. */
export const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';

const makeKeyPair = promisify(generateKeyPair);

/** Makes a team with a key and an app at APNs, and a project with a service account at FCM. */
export async function createAccounts(tokenUri = GOOGLE_TOKEN_URI): Promise<ProviderAccounts> {
  const [apnsKeys, fcmKeys] = await Promise.all([
    makeKeyPair('ec', { namedCurve: 'P-256' }),
    makeKeyPair('rsa', { modulusLength: 2048 }),
  ]);
  const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
  const projectId = `tagcast-simulated-${randomBytes(3).toString('hex')}`;
  return {
    apns: {
      teamId: randomAppleId(),
      keyId: randomAppleId(),
      privateKey: apnsKeys.privateKey.export(pkcs8).toString(),
      bundleId: 'org.tagcast.demo',
    },
    fcm: {
      serviceAccount: {
        type: 'service_account',
        project_id: projectId,
        private_key_id: randomBytes(20).toString('hex'),
        private_key: fcmKeys.privateKey.export(pkcs8).toString(),
        client_email: `push@${projectId}.iam.gserviceaccount.com`,
        token_uri: tokenUri,
      },
    },
  };
}

/** Ten characters, as Apple's team and key ids have. */
function randomAppleId(): string {
  return randomBytes(5).toString('hex').toUpperCase();
}

function isP256Key(pem: string): boolean {
  return keyDetails(pem) === 'ec prime256v1';
}

function isRsaKey(pem: string): boolean {
  return keyDetails(pem) === 'rsa ';
}

/**
 * Type and curve of a private key; undefined when the text is not a key, which the caller reports.
 */
function keyDetails(pem: string): string | undefined {
  try {
    const key = createPrivateKey(pem);
    return `${key.asymmetricKeyType} ${key.asymmetricKeyDetails?.namedCurve ?? ''}`;
  } catch {
    return undefined;
  }
}
