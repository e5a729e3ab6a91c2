/** The credential of APNs: plain data, for it is sealed as JSON and crosses to threads. */

import type { ApnsEnvironment } from '../../domain/device.ts';

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
