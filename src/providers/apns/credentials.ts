/** The provider token of APNs: a JWT signed with the team's key, sent with every push. */

import { isObject, parseJson } from '../../../packages/std/src/json.ts';
import type { Minted } from '../minted.ts';
import { identityOf } from '../minted.ts';
import type { Minting } from '../provider.ts';
import type { ApnsCredential } from './credential.ts';
import {
  PROVIDER_TOKEN_LIFETIME_MS,
  PROVIDER_TOKEN_MINTS_APART_MS,
  PROVIDER_TOKEN_REFRESH_MS,
} from './settings.ts';

/** APNs counts by team: apps of one team with one key share one token. */
export const apnsMinting = (credential: ApnsCredential): Minting => ({
  identity: identityOf('apns', credential.teamId, credential.keyId, credential.privateKey),
  apartMs: PROVIDER_TOKEN_MINTS_APART_MS,
  mint: (nowMs) => mintProviderToken(credential, nowMs),
});

export async function mintProviderToken(
  credential: ApnsCredential,
  nowMs: number,
): Promise<Minted> {
  // Worker threads load this file, and sign nothing.
  const { importPKCS8, SignJWT } = await import('jose');
  // ES256 is ECDSA over P-256 and nothing else: jose refuses keys of other curves here.
  const key = await importPKCS8(credential.privateKey, 'ES256').catch(() => null);
  if (key === null) {
    return {
      ok: false,
      reason: 'the private key is not a P-256 key in PKCS 8: store the credential again',
      retryable: false,
    };
  }
  const token = await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: credential.keyId })
    .setIssuer(credential.teamId)
    .setIssuedAt(Math.floor(nowMs / 1_000))
    .sign(key);
  const { from, to } = PROVIDER_TOKEN_REFRESH_MS;
  return {
    ok: true,
    value: BEARER + token,
    mintedAtMs: nowMs,
    refreshAtMs: nowMs + from + Math.random() * (to - from),
    expiresAtMs: nowMs + PROVIDER_TOKEN_LIFETIME_MS,
  };
}

/** When a provider token was signed. Null: it cannot be read. */
export function signedAtMsOf(authorization: string): number | null {
  const [, claims = ''] = authorization.split('.');
  const read = parseJson(Buffer.from(claims, 'base64url').toString());
  const signedAt = isObject(read) ? read['iat'] : undefined;
  return typeof signedAt === 'number' ? signedAt * 1_000 : null;
}

const BEARER = 'bearer ';
