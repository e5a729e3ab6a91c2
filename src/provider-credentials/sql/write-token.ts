/** Writes the result of making a token: the value, a failure, or a freeze after too many. */

import type { Sql } from '../../database/sql.ts';

interface NewToken {
  readonly identity: string;
  /** The claim under which it was made; becomes the name of the value. */
  readonly mintingId: string;
  readonly sealed: Buffer;
  readonly keyId: string;
  /** Epoch milliseconds of the database's clock, all three. */
  readonly mintedAtMs: number;
  readonly refreshAtMs: number;
  readonly expiresAtMs: number;
}

/** False: the claim has lapsed and another one was made; this value must not be used. */
export async function writeToken(sql: Sql, token: NewToken): Promise<boolean> {
  const { identity, mintingId, sealed, keyId, mintedAtMs, refreshAtMs, expiresAtMs } = token;
  const written = await sql`
    update provider_tokens set
      value_id = minting_id, value_sealed = ${sealed}, value_key_id = ${keyId},
      minted_at = to_timestamp(${mintedAtMs}::float8 / 1000),
      refresh_at = to_timestamp(${refreshAtMs}::float8 / 1000),
      expires_at = to_timestamp(${expiresAtMs}::float8 / 1000),
      minting_id = null, minting_until = null, failure = null, failure_is_final = null, retry_at = null,
      touched_at = clock_timestamp()
    where identity = ${identity} and minting_id = ${mintingId}::uuid
    returning 1`;
  return written.length > 0;
}

/** Writes a failure: no node tries again for `pauseMs`. */
export async function writeMintFailure(
  sql: Sql,
  failed: {
    readonly identity: string;
    readonly mintingId: string;
    readonly reason: string;
    readonly isFinal: boolean;
    readonly pauseMs: number;
  },
): Promise<void> {
  const { identity, mintingId, reason, isFinal, pauseMs } = failed;
  await sql`
    update provider_tokens set
      failure = ${reason}, failure_is_final = ${isFinal},
      retry_at = clock_timestamp() + make_interval(secs => ${pauseMs}::float8 / 1000),
      minting_id = null, minting_until = null, touched_at = clock_timestamp()
    where identity = ${identity} and minting_id = ${mintingId}::uuid`;
}

/** No node makes a token for `forMs`; a longer freeze stays. */
export async function freezeToken(sql: Sql, identity: string, forMs: number): Promise<void> {
  await sql`
    insert into provider_tokens as t (identity, frozen_until)
    values (${identity}, clock_timestamp() + make_interval(secs => ${forMs}::float8 / 1000))
    on conflict (identity) do update set
      frozen_until = greatest(t.frozen_until, excluded.frozen_until), touched_at = clock_timestamp()`;
}
