/** Whether a scope may be sent to, and with what: its credential and a valid authorization, or why not. */

import type { ProviderCredential } from '../domain/credential.ts';
import type { Authorization } from '../senders/authorization.ts';
import { MISSING_CREDENTIAL } from './delivery.ts';
import type { Authority } from './task.ts';

/** Opened by whoever has the key of the secrets. Null: the app has none on this platform. */
export type CredentialSource = (
  appId: number,
  platformId: number,
) => Promise<ProviderCredential | null>;

/** What it needs of senders/authorization.ts. */
export interface AuthorizationSource {
  current(key: string, credential: ProviderCredential): Promise<Authorization>;
  invalidate(key: string, value: string): void;
  freeze(key: string): Promise<void>;
}

export type Right =
  | { readonly kind: 'granted'; readonly authority: Authority }
  /** Nothing can be sent until somebody changes the credential. */
  | { readonly kind: 'fault'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string };

export class Authorizer {
  private readonly credentials: CredentialSource;
  private readonly authorizations: AuthorizationSource;

  constructor(credentials: CredentialSource, authorizations: AuthorizationSource) {
    this.credentials = credentials;
    this.authorizations = authorizations;
  }

  async authorize(appId: number, platformId: number): Promise<Right> {
    const credential = await this.credentials(appId, platformId);
    if (credential === null) return { kind: 'fault', reason: MISSING_CREDENTIAL };
    const authorization = await this.authorizations.current(keyOf(appId, platformId), credential);
    if (authorization.ok) {
      return { kind: 'granted', authority: { credential, authorization: authorization.value } };
    }
    const { reason, retryable } = authorization;
    return { kind: retryable ? 'later' : 'fault', reason };
  }

  /** A provider has called `expired` outdated: a newer value, or null while there is none. */
  async renew(appId: number, platformId: number, expired: string): Promise<string | null> {
    const known = await this.authorize(appId, platformId);
    if (known.kind !== 'granted') return null;
    if (known.authority.authorization !== expired) return known.authority.authorization;
    this.authorizations.invalidate(keyOf(appId, platformId), expired);
    const fresh = await this.authorize(appId, platformId);
    return fresh.kind === 'granted' ? fresh.authority.authorization : null;
  }

  /** A provider has had too many tokens of this credential's key. */
  freeze(appId: number, platformId: number): Promise<void> {
    return this.authorizations.freeze(keyOf(appId, platformId));
  }
}

const keyOf = (appId: number, platformId: number): string => `${appId}.${platformId}`;
