/** The accounts that the simulated providers accept, found by the names in a request. */

import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import type { ProviderAccounts } from './accounts.ts';

/**
 * One end-to-end run has a handful of tenants; the limit keeps POST /accounts from growing for
 * ever.
 * @limit accounts of the simulator → refused
 */
export const ACCOUNTS_MAX = 1_000;

export interface ServiceAccountEntry {
  readonly projectId: string;
  readonly publicKey: KeyObject;
  readonly tokenUri: string;
}

export class AccountBook {
  readonly #accounts: ProviderAccounts[] = [];
  readonly #apnsKeys = new Map<string, KeyObject>();
  readonly #bundleIds = new Map<string, Set<string>>();
  readonly #serviceAccounts = new Map<string, ServiceAccountEntry>();

  get all(): readonly ProviderAccounts[] {
    return this.#accounts;
  }

  /**
   * Accepts another account; false when the book is full. If two have one name, the later one is
   * used.
   */
  add(accounts: ProviderAccounts): boolean {
    if (this.#accounts.length >= ACCOUNTS_MAX) return false;
    const { teamId, keyId, privateKey, bundleId } = accounts.apns;
    this.#accounts.push(accounts);
    this.#apnsKeys.set(apnsKeyName(teamId, keyId), createPublicKey(privateKey));
    this.#bundleIds.set(teamId, new Set(this.#bundleIds.get(teamId)).add(bundleId));
    const { serviceAccount } = accounts.fcm;
    this.#serviceAccounts.set(serviceAccount.client_email, {
      projectId: serviceAccount.project_id,
      publicKey: createPublicKey(serviceAccount.private_key),
      tokenUri: serviceAccount.token_uri,
    });
    return true;
  }

  apnsKey(teamId: string, keyId: string): KeyObject | undefined {
    return this.#apnsKeys.get(apnsKeyName(teamId, keyId));
  }

  hasBundle(teamId: string, bundleId: string): boolean {
    return this.#bundleIds.get(teamId)?.has(bundleId) ?? false;
  }

  serviceAccount(clientEmail: string): ServiceAccountEntry | undefined {
    return this.#serviceAccounts.get(clientEmail);
  }
}

function apnsKeyName(teamId: string, keyId: string): string {
  return JSON.stringify([teamId, keyId]);
}
