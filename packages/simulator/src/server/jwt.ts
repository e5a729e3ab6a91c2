/**
 * Reads and verifies JSON web tokens, synchronously, on `node:crypto`. The engine signs its tokens
 * with jose. A peer that checks them with other code finds faults that one library would not see in
 * its own tokens.
 */

import type { KeyObject } from 'node:crypto';
import { verify } from 'node:crypto';
import type { JsonObject } from '../../../std/src/json.ts';
import { parseObject } from '../../../std/src/json.ts';

type Algorithm = 'ES256' | 'RS256';

export interface Jwt {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly signedText: string;
  readonly signature: Buffer;
}

/** The parts of a compact JWT; undefined when the text is not one. Nothing is verified yet. */
export function readJwt(text: string): Jwt | undefined {
  const [header = '', claims = '', signature = '', ...rest] = text.split('.');
  const headerObject = readPart(header);
  const claimsObject = readPart(claims);
  if (headerObject === undefined || claimsObject === undefined) return undefined;
  if (signature === '' || rest.length > 0) return undefined;
  return {
    header: headerObject,
    claims: claimsObject,
    signedText: `${header}.${claims}`,
    signature: Buffer.from(signature, 'base64url'),
  };
}

/** Whether the token names this algorithm and was signed by the private half of this key. */
export function isSignedBy(jwt: Jwt, publicKey: KeyObject, algorithm: Algorithm): boolean {
  if (jwt.header['alg'] !== algorithm) return false;
  // JOSE writes r and s side by side; OpenSSL expects DER by default.
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const;
  return verify('sha256', Buffer.from(jwt.signedText), key, jwt.signature);
}

function readPart(part: string): JsonObject | undefined {
  return parseObject(Buffer.from(part, 'base64url').toString());
}
