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
