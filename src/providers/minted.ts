/** The result of making an `authorization` value, the same for every provider. */

import { hash } from 'node:crypto';

export type Minted =
  | {
      readonly ok: true;
      readonly value: string;
      readonly mintedAtMs: number;
      /** From then on a new one should be made; this one still works. */
      readonly refreshAtMs: number;
      readonly expiresAtMs: number;
    }
  | MintFailure;

export interface MintFailure {
  readonly ok: false;
  readonly reason: string;
  readonly retryable: boolean;
}

/** The `Minting.identity` of these parts. JSON keeps them apart, even if they hold separators. */
export const identityOf = (...parts: readonly string[]): string =>
  hash('sha256', JSON.stringify(parts), 'base64url');
