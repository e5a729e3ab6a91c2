/**
 * One claim: orders what the allotment has shared out from the ledger, chunks and retries at once,
 * and suspects (decision 39) apart.
 */

import type { Among, Part, Wanted } from '../../store/ledger/claim-chunks.ts';
import { claimChunks } from '../../store/ledger/claim-chunks.ts';
import { claimRetries } from '../../store/ledger/claim-retries.ts';
import type { Claimable } from '../../store/ledger/list-claimable.ts';
import type { Sql } from '../../store/sql.ts';
import type { Claimed } from './claimed.ts';
import { scopeOf } from './claimed.ts';

/**
 * Retries' leases are not renewed while answers are awaited, and sends begin in the first half of
 * one: it lasts so much longer than a worker is told, a time-out (the longest of all providers' is
 * 15 s) of waiting for a stream and another of waiting for the answer. Ended before, the row would
 * be sent again beside the send under way, whose end would count for nothing.
 */
const RETRY_ANSWERS_MS = 30_000;

export interface ClaimTerms {
  readonly sql: Sql;
  readonly leaseMs: number;
  /** Monotonic time before the claim is sent. */
  readonly leaseStartedMs: number;
  readonly nodeId: number | null;
  /**
   * Whether a part may be claimed that has had claims without progress: a node runs one of them at
   * a time.
   */
  readonly mayTakeSuspect: boolean;
}

export interface ClaimResult {
  readonly claimed: readonly Claimed[];
  /** What a part of it has failed with: what was claimed is leased all the same. */
  readonly errors: readonly unknown[];
}

interface Orders {
  readonly chunks: readonly Wanted[];
  readonly retries: readonly Part[];
}

/** Claims what these turns are for. Suspects come when a part has nothing else. */
export async function claimTurns(
  turns: readonly Claimable[],
  terms: ClaimTerms,
): Promise<ClaimResult> {
  const orders = ordersOf(turns);
  const result = await order(orders, terms, 'unsuspected');
  if (!terms.mayTakeSuspect || result.errors.length > 0) return result;
  const served = new Set(result.claimed.map((part) => partKeyOf(part.kind, scopeOf(part))));
  const chunks = orders.chunks.filter((part) => !served.has(partKeyOf('chunk', part)));
  const retries = orders.retries.filter((part) => !served.has(partKeyOf('retries', part)));
  // One of them: of chunks the ledger takes the first that it finds.
  const left =
    chunks.length > 0 ? { chunks, retries: [] } : { chunks, retries: retries.slice(0, 1) };
  if (left.chunks.length + left.retries.length === 0) return result;
  const suspects = await order(left, terms, 'suspects');
  return { claimed: [...result.claimed, ...suspects.claimed], errors: suspects.errors };
}

async function order(
  { chunks, retries }: Orders,
  { sql, leaseMs, leaseStartedMs, nodeId }: ClaimTerms,
  among: Among,
): Promise<ClaimResult> {
  // What one of them has claimed is leased, whatever becomes of the other.
  const results = await Promise.allSettled([
    chunks.length > 0 ? claimChunks(sql, chunks, leaseMs, nodeId, among) : [],
    retries.length > 0 ? claimRetries(sql, retries, leaseMs + RETRY_ANSWERS_MS, nodeId, among) : [],
  ]);
  const [claimedChunks, claimedRetries] = results;
  const claim = { leaseStartedMs, nodeId };
  return {
    claimed: [
      ...claimedIn(claimedChunks).map((chunk) => ({ kind: 'chunk' as const, chunk, ...claim })),
      ...claimedIn(claimedRetries).map((batch) => ({
        kind: 'retries' as const,
        retries: batch,
        ...claim,
      })),
    ],
    errors: results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : [])),
  };
}

/**
 * A part's first turn in a round takes its retries that are due, if it has some; all others take
 * chunks.
 */
function ordersOf(turns: readonly Claimable[]): Orders {
  const retries = new Map<Claimable, Part>();
  const chunks = new Map<Claimable, Wanted>();
  for (const turn of turns) {
    if (turn.hasRetries && !retries.has(turn)) retries.set(turn, turn);
    else if (turn.hasChunks) {
      chunks.set(turn, { ...turn, count: (chunks.get(turn)?.count ?? 0) + 1 });
    }
  }
  return { chunks: [...chunks.values()], retries: [...retries.values()] };
}

const partKeyOf = (kind: Claimed['kind'], { notificationId, appId, platformId }: Part): string =>
  `${kind}.${notificationId}.${appId}.${platformId}`;

const claimedIn = <T>(result: PromiseSettledResult<readonly T[]>): readonly T[] =>
  result.status === 'fulfilled' ? result.value : [];
