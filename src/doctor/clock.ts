/** Checks clocks: nodes stamp rows by the database's, and providers check tokens by theirs. */

import { readAheadMs, SET_BACK_MS_MIN } from '../database/maintenance/set-back-clock.ts';
import type { Sql } from '../database/sql.ts';
import type { Finding } from './finding.ts';
import { findingsAbout } from './finding.ts';

/** Whether the database's clock was ahead of what it shows now. */
export async function checkSetBack(sql: Sql): Promise<readonly Finding[]> {
  const aheadMs = await readAheadMs(sql);
  if (aheadMs < SET_BACK_MS_MIN) return [];
  const { warning } = findingsAbout('clock');
  return [
    warning(
      `the database's clock has shown a time that is ${(aheadMs / 1_000).toFixed(0)} s ahead of now: it was wrong. A running engine corrects within seconds what waits for such a time; let the machine follow a time server (NTP).`,
    ),
  ];
}

/**
 * More than a network and a busy machine explain.
 * @limit clocks may differ without a warning of `doctor` → a warning
 */
const SKEW_MS_MAX = 2_000;
/**
 * Providers refuse tokens that are much older, or from the future.
 * @limit clocks may differ without a problem of `doctor` → a problem
 */
const SKEW_MS_BROKEN = 60_000;

/** Asks for a time; the answer was made between the question and its arrival. */
export async function checkClock(whose: string, ask: () => Promise<number>): Promise<Finding> {
  const { ok, warning, problem } = findingsAbout('clock');
  const beforeMs = Date.now();
  const theirsMs = await ask();
  const afterMs = Date.now();
  const skewMs = Math.max(0, beforeMs - theirsMs, theirsMs - afterMs);
  if (skewMs <= SKEW_MS_MAX) return ok(`this machine's and ${whose}'s agree`);
  const text = `this machine's and ${whose}'s differ by ${(skewMs / 1_000).toFixed(1)} s: let both follow a time server (NTP).`;
  return skewMs > SKEW_MS_BROKEN ? problem(text) : warning(text);
}
