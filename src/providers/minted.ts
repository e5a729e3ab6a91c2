/** What making a provider's `authorization` value gives, for every provider alike. */

import { hash } from 'node:crypto';

export type Minted =
  | {
      readonly ok: true;
      /** The header field's whole value. */
      readonly value: string;
      readonly mintedAtMs: number;
      /** From here on a new one should be made; this one still works. */
      readonly refreshAtMs: number;
      readonly expiresAtMs: number;
    }
  | MintFailure;

export interface MintFailure {
  readonly ok: false;
  readonly reason: string;
  /** Whether asking again later could end otherwise. */
  readonly retryable: boolean;
}

/** `Minting.identity` of these. JSON keeps them apart, whatever they hold. */
export const identityOf = (...parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url');
