/** What a provider wants to see before it takes a push for an app: the credentials of one (app, platform). */

/** Apple's two services: a token is of one of them only. */
export type ApnsEnvironment = 'production' | 'sandbox';

/** APNs token authentication (facts: a .p8 key of a team). */
export interface ApnsCredential {
  readonly kind: 'apns';
  readonly teamId: string;
  readonly keyId: string;
  /** PKCS 8 PEM, P-256. */
  readonly privateKey: string;
  readonly bundleId: string;
  readonly environment: ApnsEnvironment;
}

/** The fields we use of a Google service account file. */
export interface ServiceAccount {
  readonly project_id: string;
  readonly private_key_id: string;
  /** PKCS 8 PEM, RSA. */
  readonly private_key: string;
  readonly client_email: string;
}

export interface FcmCredential {
  readonly kind: 'fcm';
  readonly serviceAccount: ServiceAccount;
}

export type ProviderCredential = ApnsCredential | FcmCredential;
