/** The provider tokens that all nodes share, sealed, each for its own identity (decision 24). */

import { randomUUID } from 'node:crypto';
import type { Secrets } from '../access/secrets.ts';
import type { Sql } from '../database/sql.ts';
import type { MintingRight, SharedToken } from '../domain/provider-token.ts';
import { claimMinting } from './sql/claim-minting.ts';
import { readToken } from './sql/read-token.ts';
import { freezeToken, writeMintFailure, writeToken } from './sql/write-token.ts';

interface MintedValue {
  readonly value: string;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

export class ProviderTokens {
  private readonly sql: Sql;
  private readonly secrets: Secrets;
  private readonly nodeId: () => number | null;

  /** `nodeId`: the id of this node at this moment. Null: a command, which is no node. */
  constructor(sql: Sql, secrets: Secrets, nodeId: () => number | null = () => null) {
    this.sql = sql;
    this.secrets = secrets;
    this.nodeId = nodeId;
  }

  /** The newest token. `apartMs`: the least time between two. */
  async read(identity: string, apartMs: number): Promise<SharedToken> {
    const row = await readToken(this.sql, identity, apartMs);
    if (row === null) return NEVER_ASKED;
    const { valueId, sealed, keyId, failure, failureIsFinal, retryInMs } = row;
    return {
      id: valueId,
      value: sealed === null || keyId === null ? null : this.open(sealed, keyId, identity),
      ageMs: row.ageMs,
      refreshInMs: row.refreshInMs,
      expiresInMs: row.expiresInMs,
      mintInMs: row.mintInMs,
      isBeingMinted: row.isBeingMinted,
      failure:
        failure === null || retryInMs === 0
          ? null
          : { reason: failure, isFinal: failureIsFinal, lastsMs: retryInMs },
    };
  }

  /** The right to make the successor of `seenId`, with the shared clock's time. Null: not now. */
  async claim(
    identity: string,
    seenId: string | null,
    apartMs: number,
  ): Promise<MintingRight | null> {
    const mintingId = randomUUID();
    const nowMs = await claimMinting(this.sql, {
      identity,
      seenId,
      mintingId,
      apartMs,
      nodeId: this.nodeId(),
    });
    return nowMs === null ? null : { mintingId, nowMs };
  }

  /** Stores a new value. Only a stored one may be used: no token that other nodes do not know. */
  keep(
    identity: string,
    right: MintingRight,
    { value, refreshAtMs, expiresAtMs }: MintedValue,
  ): Promise<boolean> {
    return writeToken(this.sql, {
      identity,
      mintingId: right.mintingId,
      sealed: this.secrets.seal(value, tokenIdentityOf(identity)),
      keyId: this.secrets.keyId,
      mintedAtMs: right.nowMs,
      refreshAtMs,
      expiresAtMs,
    });
  }

  /** All nodes get this failure for `pauseMs`: a broken account must not cause a request storm. */
  fail(
    identity: string,
    mintingId: string,
    failure: { readonly reason: string; readonly isFinal: boolean },
    pauseMs: number,
  ): Promise<void> {
    return writeMintFailure(this.sql, { identity, mintingId, ...failure, pauseMs });
  }

  /** The provider got too many tokens: no node makes one for so long. */
  freeze(identity: string, forMs: number): Promise<void> {
    return freezeToken(this.sql, identity, forMs);
  }

  private open(sealed: Buffer, keyId: string, identity: string): string | null {
    const opened = this.secrets.open(sealed, keyId, tokenIdentityOf(identity));
    return opened.kind === 'opened' ? opened.plain : null;
  }
}

const NEVER_ASKED: SharedToken = Object.freeze({
  id: null,
  value: null,
  ageMs: 0,
  refreshInMs: 0,
  expiresInMs: 0,
  mintInMs: 0,
  isBeingMinted: false,
  failure: null,
});

/** The identity that a sealed token is bound to. */
export const tokenIdentityOf = (identity: string): string => `provider-token:${identity}`;
