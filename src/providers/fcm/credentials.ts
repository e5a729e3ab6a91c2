/** How the access token of FCM is made, and who shares one. */

import { identityOf } from '../minted.ts';
import type { Minting, TrustedAt } from '../provider.ts';
import type { ServiceAccount } from './credential.ts';
import type { FcmOrigins } from './origins.ts';
import { ACCESS_TOKEN_REQUESTS_APART_MS } from './settings.ts';

export function fcmMinting(
  serviceAccount: ServiceAccount,
  { oauth }: FcmOrigins,
  trustedAt: TrustedAt,
): Minting {
  const { client_email, private_key_id, private_key } = serviceAccount;
  return {
    // The origin is part of it: one issuer's token is worth nothing with another.
    identity: identityOf('fcm', oauth, client_email, private_key_id, private_key),
    apartMs: ACCESS_TOKEN_REQUESTS_APART_MS,
    async mint(nowMs) {
      // Worker threads load this file, and make no value.
      const { exchangeAccessToken } = await import('./access-token.ts');
      const endpoint = { origin: oauth, ca: trustedAt(oauth) };
      return exchangeAccessToken({ kind: 'fcm', serviceAccount }, endpoint, nowMs);
    },
  };
}
