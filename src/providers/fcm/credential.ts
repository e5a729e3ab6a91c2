/** The credential of FCM: plain data, for it is sealed as JSON and crosses to threads. */

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
