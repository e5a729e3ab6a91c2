/**
 * The provider credentials of one (app, platform), which a provider needs before it takes a push.
 */

/** Apple's two services: a token is of one of them only. */
export type ApnsEnvironment = 'production' | 'sandbox';

/** APNs token authentication (a .p8 key of a team). */
export interface ApnsCredential {
  readonly kind: 'apns';
  readonly teamId: string;
  readonly keyId: string;
  /** PKCS 8 PEM, P-256. */
  readonly privateKey: string;
  readonly bundleId: string;
  readonly environment: ApnsEnvironment;
}

/** The fields of a Google service account file that the engine uses. */
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

/** The application server's key pair (RFC 8292); the web app subscribes with the public one. */
export interface VapidKeys {
  /** The 32 octets of a P-256 private key in base64url. */
  readonly privateKey: string;
  /** The 65 octets of the uncompressed public key in base64url. */
  readonly publicKey: string;
  /** The contact for a push service: `mailto:` or `https:`. */
  readonly subject: string;
}

/**
 * Web Push: the keys for subscriptions, the account for FCM tokens that browsers registered; at
 * least one of them.
 */
export interface WebPushCredential {
  readonly kind: 'webpush';
  readonly vapid: VapidKeys | null;
  readonly serviceAccount: ServiceAccount | null;
}

export type ProviderCredential = ApnsCredential | FcmCredential | WebPushCredential;
