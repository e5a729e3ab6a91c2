/** The access token of FCM: a signed assertion, exchanged at Google's OAuth endpoint (RFC 7523). */

import { importPKCS8, SignJWT } from 'jose';
import { z } from 'zod';
import { foreignText } from '../../../packages/std/src/foreign-text.ts';
import { parseJson } from '../../../packages/std/src/json.ts';
import type { Posted } from '../../transport/compat/post.ts';
import { post } from '../../transport/compat/post.ts';
import type { Minted, MintFailure } from '../minted.ts';
import type { FcmCredential, ServiceAccount } from './credential.ts';
import {
  ACCESS_TOKEN_LIFETIME_MS_MAX,
  ACCESS_TOKEN_REFRESH_BEFORE_MS,
  ASSERTION_LIFETIME_SECONDS,
  FCM_SCOPE,
  TOKEN_ANSWER_BYTES_MAX,
  TOKEN_REQUEST_TIMEOUT_MS,
} from './settings.ts';

/** The operator's endpoint for access tokens, never the `token_uri` of a client's file. */
interface TokenEndpoint {
  readonly origin: string;
  readonly ca: string | null;
}

export async function exchangeAccessToken(
  credential: FcmCredential,
  endpoint: TokenEndpoint,
  nowMs: number,
): Promise<Minted> {
  const assertion = await signAssertion(credential.serviceAccount, endpoint.origin, nowMs);
  if (assertion === null) {
    return {
      ok: false,
      reason: 'the private key is not an RSA key of 2,048 bits or more in PKCS 8',
      retryable: false,
    };
  }
  const posted = await post({
    origin: endpoint.origin,
    ca: endpoint.ca,
    path: '/token',
    fields: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({ grant_type: JWT_BEARER, assertion }).toString(),
    timeoutMs: TOKEN_REQUEST_TIMEOUT_MS,
    bodyBytesMax: TOKEN_ANSWER_BYTES_MAX,
  });
  return mintedOf(posted, nowMs);
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

async function signAssertion(
  account: ServiceAccount,
  oauthOrigin: string,
  nowMs: number,
): Promise<string | null> {
  const issuedAt = Math.floor(nowMs / 1_000);
  try {
    const key = await importPKCS8(account.private_key, 'RS256');
    return await new SignJWT({ scope: FCM_SCOPE })
      .setProtectedHeader({ alg: 'RS256', kid: account.private_key_id, typ: 'JWT' })
      .setIssuer(account.client_email)
      .setAudience(`${oauthOrigin}/token`)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_LIFETIME_SECONDS)
      .sign(key);
  } catch {
    return null;
  }
}

const tokenAnswer = z.object({
  // It becomes a header field: a token is visible ASCII only.
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.coerce.number().int().positive(),
});
const refusal = z.object({ error: z.string(), error_description: z.string().optional() });

function mintedOf(posted: Posted, nowMs: number): Minted {
  if (!posted.ok) return { ok: false, reason: `token request: ${posted.reason}`, retryable: true };
  const { status, body } = posted;
  const parsed = parseJson(body);
  if (status !== 200) return refused(status, parsed);
  const answer = tokenAnswer.safeParse(parsed);
  if (!answer.success) {
    return { ok: false, reason: 'token request: no token in the answer', retryable: true };
  }
  const lifetimeMs = Math.min(answer.data.expires_in * 1_000, ACCESS_TOKEN_LIFETIME_MS_MAX);
  return {
    ok: true,
    value: `Bearer ${answer.data.access_token}`,
    mintedAtMs: nowMs,
    refreshAtMs: nowMs + lifetimeMs - Math.min(ACCESS_TOKEN_REFRESH_BEFORE_MS, lifetimeMs / 2),
    expiresAtMs: nowMs + lifetimeMs,
  };
}

const REASON_LENGTH_MAX = 200;

function refused(status: number, parsed: unknown): MintFailure {
  const told = refusal.safeParse(parsed);
  const word = told.success
    ? [told.data.error, told.data.error_description].filter((part) => part !== undefined).join(': ')
    : `status ${status}`;
  // Google gives its reason with every refusal: a proxy's page proves nothing about the account.
  const isPassing = !told.success || status === 408 || status === 429 || status >= 500;
  return {
    ok: false,
    reason: foreignText(`token request: ${word}`, REASON_LENGTH_MAX) + hintOf(word),
    // With the clock set right, the same account gets its token.
    retryable: isPassing || CLOCK_IN_WORDS.test(word),
  };
}

/** The assertion is called too old, or of the future. */
const CLOCK_IN_WORDS = /short-lived|\biat\b|\bexp\b/i;

/** Hints for the operator. Google does not promise its texts, so they are matched loosely. */
const HINTS: readonly (readonly [words: RegExp, hint: string])[] = [
  [
    /signature/i,
    'the key was deleted, or is not of this service account: make a new key and upload its file',
  ],
  [/account not found/i, 'the service account was deleted: make another one and upload its file'],
  [/account.*disabled|disabled.*account/i, 'the service account is disabled: enable it again'],
  [CLOCK_IN_WORDS, 'is the clock of this machine right?'],
  [/audience/i, 'is OAUTH_ORIGIN right?'],
  [/^invalid_grant$/, 'the key or its service account was deleted, or the clock is wrong'],
];

const hintOf = (word: string): string => {
  const hint = HINTS.find(([words]) => words.test(word))?.[1];
  return hint === undefined ? '' : ` – ${hint}`;
};
