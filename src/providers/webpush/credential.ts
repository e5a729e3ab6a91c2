/** The credential of Web Push: plain data, for it is sealed as JSON and crosses to threads. */

import type { ServiceAccount } from '../fcm/credential.ts';

/** The application server's key pair (RFC 8292); the web app subscribes with the public one. */
export interface VapidKeys {
  /** The 32 octets of a P-256 private key in base64url. */
  readonly privateKey: string;
  /** The 65 octets of the uncompressed public key in base64url. */
  readonly publicKey: string;
  /** The contact for a push service: `mailto:` or `https:`. */
  readonly subject: string;
}

/** The keys for subscriptions, the account for browsers' FCM tokens; at least one of them. */
export interface WebPushCredential {
  readonly kind: 'webpush';
  readonly vapid: VapidKeys | null;
  readonly serviceAccount: ServiceAccount | null;
}
