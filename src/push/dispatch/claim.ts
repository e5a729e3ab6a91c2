/**
 * One claim: claims the parts that the fair share has chosen, chunks and retries at the same time,
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
 * The lease of retries lasts so much longer than the worker knows. It is not renewed while answers
 * are awaited, and sends begin in its first half. A send may wait one time-out for a stream and
 * another for its answer; the longest time-out of all providers is 15 s. If the lease ended before,
 * the row would be sent again beside the send under way, whose outcome would not count.
 */
const RETRY_ANSWERS_MS = 30_000;

export interface ClaimTerms {
  readonly sql: Sql;
  readonly leaseMs: number;
  /** Monotonic time before the claim is sent. */
  readonly leaseStartedMs: number;
  readonly nodeId: number | null;
  /** Whether a suspect may be claimed: a node runs one at a time. */
  readonly mayTakeSuspect: boolean;
}

export interface ClaimResult {
  readonly claimed: readonly Claimed[];
  /** The errors of claims that failed. The others hold their leases all the same. */
  readonly errors: readonly unknown[];
}

interface Orders {
  readonly chunks: readonly Wanted[];
  readonly retries: readonly Part[];
}

/** Claims parts for these turns. A suspect is claimed only if nothing else of its scope was. */
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
  // One suspect: of chunks the ledger takes the first that it finds.
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
  // If one of them fails, the parts that the other has claimed are leased all the same.
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

/** The first turn of a scope takes its due retries, if it has some; its other turns take chunks. */
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
