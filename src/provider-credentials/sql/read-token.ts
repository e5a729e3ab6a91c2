/** The newest token of an identity, by the database's clock; null: none was ever wanted. */

import type { Sql } from '../../database/sql.ts';
import { failsUntil, isTimely, mintableAt } from './believed.ts';
import { mintingUntil } from './minting-until.ts';

interface TokenRow {
  readonly valueId: string | null;
  /** Null: there is none, or it was made later than now. */
  readonly sealed: Buffer | null;
  readonly keyId: string | null;
  /** Milliseconds since it was made. */
  readonly ageMs: number;
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
  const now = sql`at`;
  const minting = mintingUntil(sql, now);
  const [row] = await sql<TokenRow[]>`
    with clock as materialized (select clock_timestamp() as at)
    select value_id as "valueId", case when ${isTimely(sql, now)} then value_sealed end as sealed,
      value_key_id as "keyId",
      greatest(0, coalesce(extract(epoch from at - minted_at) * 1000, 0))::float8 as "ageMs",
      coalesce(extract(epoch from refresh_at - at) * 1000, 0)::float8 as "refreshInMs",
      coalesce(extract(epoch from expires_at - at) * 1000, 0)::float8 as "expiresInMs",
      greatest(0, extract(epoch from ${mintableAt(sql, now, apartMs, minting)} - at) * 1000)::float8 as "mintInMs",
      coalesce(${minting} > at, false) as "isBeingMinted",
      failure, coalesce(failure_is_final, false) as "failureIsFinal",
      greatest(0, extract(epoch from ${failsUntil(sql, now)} - at) * 1000)::float8 as "retryInMs"
    from provider_tokens t, clock where identity = ${identity}`;
  return row ?? null;
}
