/** Claims the parts that the fair share has chosen; suspects (decision 39) apart. */

import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import type { Sql } from '../../database/sql.ts';
import type { NotificationScope } from '../../domain/notification.ts';
import { notificationScopeKeyOf } from '../../domain/notification.ts';
import type { Among, Wanted } from '../sql/ledger/claim-chunks.ts';
import { claimChunks } from '../sql/ledger/claim-chunks.ts';
import { claimRetries } from '../sql/ledger/claim-retries.ts';
import type { Claimable } from '../sql/ledger/list-claimable.ts';
import type { Claimed } from './claimed.ts';
import { partOf } from './claimed.ts';

/**
 * It is not renewed while answers are awaited. A send begun in its first half may wait two
 * time-outs of 15 s; ended before, the row would be sent again beside it.
 * @limit time that the lease of a batch of retries lasts longer, for their answers → another node
 * may claim it; sends begin in the first half of `CHUNK_LEASE_MS`
 */
const RETRY_ANSWERS_MS = 30_000;

interface ClaimTerms {
  readonly connection: DedicatedConnection;
  readonly leaseMs: number;
  /** Monotonic time before the claim is sent. */
  readonly leaseStartedMs: number;
  readonly nodeId: number | null;
  /** Whether a suspect may be claimed: a node runs one at a time. */
  readonly mayTakeSuspect: boolean;
}

interface Orders {
  readonly chunks: readonly Wanted[];
  readonly retries: readonly NotificationScope[];
}

/** In one transaction. A suspect is claimed only if nothing else of its scope was. */
export function claimTurns(
  turns: readonly Claimable[],
  { connection, mayTakeSuspect, ...terms }: ClaimTerms,
): Promise<readonly Claimed[]> {
  const orders = ordersOf(turns);
  return connection.transact(
    (tx) => order(tx, orders, terms, 'unsuspected'),
    async (tx, claimed) => {
      const left = mayTakeSuspect ? restOf(orders, claimed) : NO_ORDERS;
      return [...claimed, ...(await order(tx, left, terms, 'suspects'))];
    },
  );
}

const NO_ORDERS: Orders = { chunks: [], retries: [] };

/** Parts of which nothing was claimed; only one suspect chunk is claimed, the first found. */
function restOf(orders: Orders, claimed: readonly Claimed[]): Orders {
  const served = new Set(claimed.map((part) => partKeyOf(part.kind, partOf(part))));
  const chunks = orders.chunks.filter((part) => !served.has(partKeyOf('chunk', part)));
  const retries = orders.retries.filter((part) => !served.has(partKeyOf('retries', part)));
  return chunks.length > 0 ? { chunks, retries: [] } : { chunks, retries: retries.slice(0, 1) };
}

async function order(
  tx: Sql,
  { chunks, retries }: Orders,
  { leaseMs, leaseStartedMs, nodeId }: Pick<ClaimTerms, 'leaseMs' | 'leaseStartedMs' | 'nodeId'>,
  among: Among,
): Promise<readonly Claimed[]> {
  const [claimedChunks, claimedRetries] = await Promise.all([
    chunks.length > 0 ? claimChunks(tx, chunks, leaseMs, nodeId, among) : [],
    retries.length > 0 ? claimRetries(tx, retries, leaseMs + RETRY_ANSWERS_MS, nodeId, among) : [],
  ]);
  const claim = { leaseStartedMs, nodeId };
  return [
    ...claimedChunks.map((chunk) => ({ kind: 'chunk' as const, chunk, ...claim })),
    ...claimedRetries.map((batch) => ({ kind: 'retries' as const, retries: batch, ...claim })),
  ];
}

/** The first turn of a scope takes its due retries, if it has some; its other turns take chunks. */
function ordersOf(turns: readonly Claimable[]): Orders {
  const retries = new Map<Claimable, NotificationScope>();
  const chunks = new Map<Claimable, Wanted>();
  for (const turn of turns) {
    if (turn.hasRetries && !retries.has(turn)) retries.set(turn, turn);
    else if (turn.hasChunks) {
      chunks.set(turn, { ...turn, count: (chunks.get(turn)?.count ?? 0) + 1 });
    }
  }
  return { chunks: [...chunks.values()], retries: [...retries.values()] };
}

const partKeyOf = (kind: Claimed['kind'], scope: NotificationScope): string =>
  `${kind}.${notificationScopeKeyOf(scope)}`;
