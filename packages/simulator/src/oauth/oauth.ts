/**
 * The simulated Google token endpoint: exchanges a service account's signed assertion for an access
 * token (RFC 7523; internals/providers.md, "FCM: messages").
 */

import type { AccountBook, ServiceAccountEntry } from '../account-book.ts';
import type { ProviderRecord } from '../record/record.ts';
import type { Handler, ProviderAnswer, ProviderRequest } from '../server/exchange.ts';
import { recurringField } from '../server/fields.ts';
import { googleHtmlAnswer } from '../server/google-error.ts';
import type { Jwt } from '../server/jwt.ts';
import { isSignedBy, readJwt } from '../server/jwt.ts';
import type { AccessTokens } from './access-tokens.ts';
import { EXPIRES_IN_SECONDS } from './access-tokens.ts';

export const TOKEN_PATH = '/token';

/** An error body in the form of RFC 6749, section 5.2, with Google's words. */
interface OAuthFault {
  readonly error: string;
  readonly error_description: string;
}

type Grant =
  | { readonly kind: 'granted'; readonly projectId: string }
  | { readonly kind: 'refused'; readonly fault: OAuthFault };

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

const SCOPES = [
  'https://www.googleapis.com/auth/firebase.messaging',
  'https://www.googleapis.com/auth/cloud-platform',
];

const LIFETIME_SECONDS_MAX = 3_600;
const CLOCK_SKEW_SECONDS_MAX = 300;

export function createOAuth(
  record: ProviderRecord,
  accounts: AccountBook,
  accessTokens: AccessTokens,
  now: () => number = Date.now,
): Handler {
  return (request) => {
    if (request.path !== TOKEN_PATH || request.method !== 'POST') {
      record.reject('NotFound');
      return googleHtmlAnswer(404, 'The requested URL was not found on this server.');
    }
    const grant = checkGrant(request, accounts, now() / 1_000);
    if (grant.kind === 'refused') {
      record.reject(grant.fault.error);
      return jsonAnswer(400, grant.fault);
    }
    record.acceptUnnamed();
    return jsonAnswer(200, {
      access_token: accessTokens.issue(grant.projectId, now()),
      expires_in: EXPIRES_IN_SECONDS,
      token_type: 'Bearer',
    });
  };
}

function checkGrant(request: ProviderRequest, accounts: AccountBook, nowSeconds: number): Grant {
  const form = new URLSearchParams(request.body.toString());
  const grantType = form.get('grant_type');
  if (grantType !== GRANT_TYPE) {
    return refused('unsupported_grant_type', `Invalid grant_type: ${grantType ?? ''}`);
  }
  const jwt = readJwt(form.get('assertion') ?? '');
  if (jwt === undefined) return refused('invalid_grant', 'Invalid JWT: Failed to parse.');
  const account = accounts.serviceAccount(String(jwt.claims['iss']));
  if (account === undefined) {
    return refused('invalid_grant', 'Invalid grant: account not found');
  }
  if (!isSignedBy(jwt, account.publicKey, 'RS256')) {
    return refused('invalid_grant', 'Invalid JWT Signature.');
  }
  return checkClaims(jwt, account, request.authority, nowSeconds);
}

function checkClaims(
  jwt: Jwt,
  account: ServiceAccountEntry,
  authority: string,
  nowSeconds: number,
): Grant {
  const { aud, scope, iat, exp } = jwt.claims;
  if (aud !== account.tokenUri && aud !== `https://${authority}${TOKEN_PATH}`) {
    return refused('invalid_grant', 'Invalid JWT: Failed audience check.');
  }
  const isShortLived =
    typeof iat === 'number' &&
    typeof exp === 'number' &&
    exp <= iat + LIFETIME_SECONDS_MAX &&
    exp > nowSeconds &&
    iat <= nowSeconds + CLOCK_SKEW_SECONDS_MAX;
  if (!isShortLived) {
    return refused(
      'invalid_grant',
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.',
    );
  }
  const scopes = typeof scope === 'string' ? scope.split(' ') : [];
  if (!scopes.some((one) => SCOPES.includes(one))) {
    return refused('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
  }
  return { kind: 'granted', projectId: account.projectId };
}

function refused(error: string, description: string): Grant {
  return { kind: 'refused', fault: { error, error_description: description } };
}

function jsonAnswer(status: number, body: object): ProviderAnswer {
  return {
    status,
    fields: [
      recurringField('content-type', 'application/json; charset=utf-8'),
      recurringField('cache-control', 'no-store'),
    ],
    body: JSON.stringify(body),
  };
}
