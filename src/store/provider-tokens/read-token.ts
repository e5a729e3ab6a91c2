/**
 * Reads the newest token of an identity, by the database's clock; null: no node ever wanted one.
 */

import type { Sql } from '../sql.ts';
import { mintingUntil } from './minting-until.ts';

export interface TokenRow {
  readonly valueId: string | null;
  readonly sealed: Buffer | null;
  readonly keyId: string | null;
  /** Milliseconds from now; 0 or less: the time is over. */
  readonly refreshInMs: number;
  readonly expiresInMs: number;
  /** Milliseconds until another one may be made; 0: now. */
  readonly mintInMs: number;
  readonly isBeingMinted: boolean;
  readonly failure: string | null;
  readonly failureIsFinal: boolean;
  /** Milliseconds for which all nodes answer with the failure. */
  readonly retryInMs: number;
}

/** `apartMs`: least time between two tokens. */
export async function readToken(
  sql: Sql,
  identity: string,
  apartMs: number,
): Promise<TokenRow | null> {
  const [row] = await sql<TokenRow[]>`
    with clock as materialized (select clock_timestamp() as at)
    select value_id as "valueId", value_sealed as sealed, value_key_id as "keyId",
      coalesce(extract(epoch from refresh_at - at) * 1000, 0)::float8 as "refreshInMs",
      coalesce(extract(epoch from expires_at - at) * 1000, 0)::float8 as "expiresInMs",
      greatest(0, extract(epoch from greatest(
        minted_at + make_interval(secs => ${apartMs}::float8 / 1000), ${mintingUntil(sql)}, frozen_until, retry_at
      ) - at) * 1000)::float8 as "mintInMs",
      coalesce(${mintingUntil(sql)} > at, false) as "isBeingMinted",
      failure, coalesce(failure_is_final, false) as "failureIsFinal",
      greatest(0, extract(epoch from retry_at - at) * 1000)::float8 as "retryInMs"
    from provider_tokens t, clock where identity = ${identity}`;
  return row ?? null;
}
