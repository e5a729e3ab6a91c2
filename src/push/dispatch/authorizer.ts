/** Gives the right to send to a scope: its credential and a valid authorization, or why not. */

import { scopeKeyOf } from '../../domain/device.ts';
import { MISSING_CREDENTIAL } from '../../domain/own-faults.ts';
import type { Authorization } from '../../providers/authorization.ts';
import type { ProviderCredential } from '../../providers/providers.ts';
import type { AuthorizedCredential } from '../protocol/task.ts';

/** The credential in use, decrypted by the code that has the key of the secrets. */
export interface UsableCredential {
  readonly credential: ProviderCredential;
  /** Call it when the provider refuses it: the one before is used then. Null: there is none. */
  readonly fallBack: ((reason: string) => Promise<void>) | null;
  /** The provider accepted it within the last minutes, on any node. */
  readonly wasAcceptedLately: boolean;
}

/** Finds a scope's credential. Null: the app has none on this platform. */
export type CredentialSource = (
  appId: number,
  platformId: number,
) => Promise<UsableCredential | null>;

export interface AuthorizationSource {
  current(key: string, credential: ProviderCredential): Promise<Authorization>;
  invalidate(key: string, value: string): void;
  freeze(key: string): Promise<void>;
}

export type ScopeAuthorization =
  | { readonly kind: 'granted'; readonly authorized: AuthorizedCredential }
  /** Nothing can be sent until the credential is changed. */
  | { readonly kind: 'fault'; readonly reason: string }
  | { readonly kind: 'later'; readonly reason: string };

export class Authorizer {
  private readonly credentials: CredentialSource;
  private readonly authorizations: AuthorizationSource;
  private readonly looks = new Map<string, Promise<ScopeAuthorization>>();

  constructor(credentials: CredentialSource, authorizations: AuthorizationSource) {
    this.credentials = credentials;
    this.authorizations = authorizations;
  }

  /** The right of a scope. Chunks that are claimed together share one look-up. */
  authorize(appId: number, platformId: number): Promise<ScopeAuthorization> {
    const key = scopeKeyOf({ appId, platformId });
    const known = this.looks.get(key);
    if (known !== undefined) return known;
    const look = this.look(appId, platformId).finally(() => this.looks.delete(key));
    this.looks.set(key, look);
    return look;
  }

  private async look(appId: number, platformId: number): Promise<ScopeAuthorization> {
    const usable = await this.credentials(appId, platformId);
    if (usable === null) return { kind: 'fault', reason: MISSING_CREDENTIAL };
    const { credential, fallBack, wasAcceptedLately } = usable;
    const authorization = await this.authorizations.current(
      scopeKeyOf({ appId, platformId }),
      credential,
    );
    if (authorization.ok) {
      const authorized = {
        credential,
        authorization: authorization.value,
        ...(fallBack === null ? {} : { hasFallback: true as const }),
        ...(wasAcceptedLately ? { wasAcceptedLately: true as const } : {}),
      };
      return { kind: 'granted', authorized };
    }
    const { reason, retryable } = authorization;
    if (retryable) return { kind: 'later', reason };
    if (fallBack === null) return { kind: 'fault', reason };
    await fallBack(reason);
    return { kind: 'later', reason };
  }

  /** A provider refuses this credential: the one before takes over if this is still in use. */
  async refused(
    appId: number,
    platformId: number,
    credential: ProviderCredential,
    reason: string,
  ): Promise<void> {
    const usable = await this.credentials(appId, platformId);
    if (JSON.stringify(usable?.credential) !== JSON.stringify(credential)) return;
    await usable?.fallBack?.(reason);
  }

  /** A newer authorization than `expired`, which a provider called so. Null: none exists yet. */
  async renew(appId: number, platformId: number, expired: string): Promise<string | null> {
    const known = await this.look(appId, platformId);
    if (known.kind !== 'granted') return null;
    if (known.authorized.authorization !== expired) return known.authorized.authorization;
    this.authorizations.invalidate(scopeKeyOf({ appId, platformId }), expired);
    const fresh = await this.look(appId, platformId);
    return fresh.kind === 'granted' ? fresh.authorized.authorization : null;
  }

  /** A provider got too many tokens of this credential's key: no new one is made for a while. */
  freeze(appId: number, platformId: number): Promise<void> {
    return this.authorizations.freeze(scopeKeyOf({ appId, platformId }));
  }
}
