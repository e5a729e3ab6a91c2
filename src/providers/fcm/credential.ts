/** The credential of FCM: plain data, for it is sealed as JSON and crosses to threads. */

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

/** The account without its key, as its owner sees it again. */
export const publicAccount = ({ private_key: _, ...shown }: ServiceAccount): object => shown;
