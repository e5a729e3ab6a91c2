/** Rounds in turns, and the row of medians that they come to. */

import type { FlowRound } from '../../clients/flow.ts';
import { median } from '../../median.ts';
import type { Row } from '../../scenario.ts';

/** An entrant of a comparison: a client, or one of its settings. */
export interface Entrant {
  readonly name: string;
  /** Null where the sink is as near as it can be. */
  readonly roundTripMs: number | null;
  measure(): Promise<FlowRound>;
}

export interface LatencyRow extends Row {
  readonly to: string;
  readonly name: string;
  readonly roundTripMs: number | null;
  readonly connections: number | null;
  readonly perSecond: number | null;
  readonly fullSpeedMs: number | null;
  readonly cpuMicros: number;
}

/**
 * One round of each after the other, so that a minute in which the machine is busy elsewhere falls
 * on all of them.
 */
export async function compare(
  to: string,
  entrants: readonly Entrant[],
  roundCount: number,
): Promise<readonly LatencyRow[]> {
  const measured = entrants.map((entrant) => ({ entrant, rounds: [] as FlowRound[] }));
  for (let round = 0; round < roundCount; round += 1) {
    for (const { entrant, rounds } of measured) rounds.push(await entrant.measure());
  }
  return measured.map(({ entrant: { name, roundTripMs }, rounds }) => ({
    to,
    name,
    roundTripMs,
    connections: median(rounds.map((round) => round.connections)),
    perSecond: Math.round(median(rounds.map((round) => round.perSecond))),
    fullSpeedMs: Math.round(median(rounds.map((round) => round.fullSpeedMs))),
    cpuMicros: median(rounds.map((round) => round.cpuMicros)),
  }));
}

/** The rate of the first over that of the second; null: one of them is not there. */
export function ratio(of: LatencyRow | undefined, over: LatencyRow | undefined): number | null {
  if (of === undefined || over === undefined) return null;
  return of.perSecond === null || over.perSecond === null ? null : of.perSecond / over.perSecond;
}
