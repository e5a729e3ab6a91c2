/**
 * Claims the right to make the next token of an identity, one holder at a time. A lease, not a
 * lock: no transaction may wait for a request to the provider.
 */

import type { Sql } from '../../database/sql.ts';
import { MINTING_MS_MAX, mintableAt } from './believed.ts';
import { mintingUntil } from './minting-until.ts';

interface MintingClaim {
  readonly identity: string;
  /** The newest value that the caller knows: the claim fails if it was replaced meanwhile. */
  readonly seenId: string | null;
  readonly mintingId: string;
  readonly apartMs: number;
  /** The claiming node: when it dies, another one may claim. Null: a process that is not a node. */
  readonly nodeId: number | null;
}

/** Answers the database's time; null: another node makes the token, or none may be made yet. */
export async function claimMinting(sql: Sql, claim: MintingClaim): Promise<number | null> {
  const { identity, seenId, mintingId, apartMs, nodeId } = claim;
  const now = sql`clock_timestamp()`;
  const [row] = await sql<{ nowMs: number }[]>`
    insert into provider_tokens as t (identity, minting_id, minting_until, node_id, node_minting_id)
    values (${identity}, ${mintingId}::uuid, clock_timestamp() + make_interval(secs => ${MINTING_MS_MAX}::float8 / 1000),
      ${nodeId}::integer, ${mintingId}::uuid)
    on conflict (identity) do update set
      minting_id = excluded.minting_id, minting_until = excluded.minting_until,
      node_id = excluded.node_id, node_minting_id = excluded.node_minting_id, touched_at = clock_timestamp()
    where t.value_id is not distinct from ${seenId}::uuid
      and coalesce(
        ${mintableAt(sql, now, apartMs, mintingUntil(sql, now))} <= clock_timestamp(), true)
    returning (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"`;
  return row?.nowMs ?? null;
}
