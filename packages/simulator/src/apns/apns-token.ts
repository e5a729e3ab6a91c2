/**
 * Checks the provider token (a JWT) of an APNs request: signed by a key of a known team, at most an
 * hour old, not replaced too often, and of the team that the connection already works for
 * (internals/providers.md, "APNs: connections" and "APNs: tokens that sign").
 */

import { CappedMap } from '../../../std/src/capped-map.ts';
import type { AccountBook } from '../account-book.ts';
import type { ConnectionMemory } from '../server/connection-memory.ts';
import { isSignedBy, readJwt } from '../server/jwt.ts';
import type { ApnsReason } from './apns-reasons.ts';

type TokenCheck =
  | { readonly kind: 'valid'; readonly teamId: string }
  | { readonly kind: 'refused'; readonly reason: ApnsReason };

interface SignedToken {
  readonly teamId: string;
  readonly issuedAtMs: number;
  /** Made once, for every request with this token. */
  readonly check: TokenCheck;
}

const AGE_MAX_MS = 3_600_000;

/** Clocks differ. A token from further in the future than this is not explained by that. */
const CLOCK_SKEW_MAX_MS = 300_000;

/** Apple: refresh no more often than every 20 minutes. */
const UPDATE_WINDOW_MS = 1_200_000;

/** Tokens new to a connection within the window: the first and its successor. */
const UPDATES_MAX = 2;

/** Verified tokens that are remembered: verifying costs 74 µs, as much as the rest of a request. */
const VERIFIED_TOKENS_MAX = 10_000;

export class ProviderTokens {
  readonly #accounts: AccountBook;
  readonly #verified = new CappedMap<string, SignedToken>({ sizeMax: VERIFIED_TOKENS_MAX });

  constructor(accounts: AccountBook) {
    this.#accounts = accounts;
  }

  /** The team that may send with this token on this connection, or the reason of a refusal. */
  check(text: string | undefined, connection: ConnectionMemory, nowMs: number): TokenCheck {
    if (text === undefined) return refused('MissingProviderToken');
    const token = this.#verify(text);
    if (token === undefined) return refused('InvalidProviderToken');
    if (token.issuedAtMs > nowMs + CLOCK_SKEW_MAX_MS) return refused('InvalidProviderToken');
    if (token.issuedAtMs < nowMs - AGE_MAX_MS) return refused('ExpiredProviderToken');
    if ((connection.teamId ?? token.teamId) !== token.teamId) {
      return refused('InvalidProviderToken');
    }
    if (!admitToken(connection.providerTokens, text, nowMs)) {
      return refused('TooManyProviderTokenUpdates');
    }
    return token.check;
  }

  #verify(text: string): SignedToken | undefined {
    const known = this.#verified.get(text);
    if (known !== undefined) return known;
    const jwt = readJwt(text);
    const { iss: teamId, iat } = jwt?.claims ?? {};
    const keyId = jwt?.header['kid'];
    if (jwt === undefined || typeof iat !== 'number') return undefined;
    if (typeof teamId !== 'string' || typeof keyId !== 'string') return undefined;
    const publicKey = this.#accounts.apnsKey(teamId, keyId);
    if (publicKey === undefined || !isSignedBy(jwt, publicKey, 'ES256')) return undefined;
    const check: TokenCheck = { kind: 'valid', teamId };
    const token = { teamId, issuedAtMs: iat * 1_000, check };
    this.#verified.set(text, token);
    return token;
  }
}

/** Whether the connection may use this token; a new one counts as an update. */
function admitToken(firstSeen: Map<string, number>, text: string, nowMs: number): boolean {
  if (firstSeen.has(text)) return true;
  for (const [other, sinceMs] of firstSeen) {
    if (sinceMs < nowMs - UPDATE_WINDOW_MS) firstSeen.delete(other);
  }
  if (firstSeen.size >= UPDATES_MAX) return false;
  firstSeen.set(text, nowMs);
  return true;
}

function refused(reason: ApnsReason): TokenCheck {
  return { kind: 'refused', reason };
}
