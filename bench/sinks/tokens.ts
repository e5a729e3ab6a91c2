/** Device tokens as APNs and FCM hand them out. */

import { createHash } from 'node:crypto';

/** The same ones in every run. */
export const makeTokens = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) =>
    createHash('sha256').update(String(index)).digest('hex'),
  );

/** The form of FCM's: an instance, a colon, 140 characters. */
export const makeFcmTokens = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => {
    const digest = createHash('sha512').update(String(index)).digest('base64url');
    return `${digest.slice(0, 22)}:APA91b${digest}${digest.slice(0, 48)}`;
  });
