/**
 * Reports who presents wrong secrets, for the log: once for a network in a window, with what came
 * since; reports are bounded too, as an attacker may have many networks.
 */

import { CappedMap } from '../../packages/std/src/capped-map.ts';
import { networkOf } from '../../packages/std/src/ip-address.ts';

/** The secret that was wrong. `credential`: also the token of an operator. */
export type Guessed = 'credential' | 'link' | 'password';

export interface GuessReport {
  readonly what: Guessed;
  /** The first of its network. */
  readonly address: string;
  /** Guesses of this network since its last report. */
  readonly times: number;
  /** Networks that were left out since the report before. */
  readonly others: number;
}

interface Window {
  readonly endsAtMs: number;
  unreported: number;
}

/**
 * @limit between log lines on wrong credentials, links, passwords of one network (IPv6: /64), of
 * each kind → counted in its next line
 */
const WINDOW_MS = 60_000;
/**
 * Reports in a window: a person reads them, and no person reads a log that fills the disk.
 * @limit log lines on wrong credentials, links, passwords of all networks in a minute → `others` of
 * the next line
 */
const REPORTS_MAX = 100;
/**
 * Networks that are remembered, of each kind of guess: about 150 bytes each.
 * @limit networks remembered, of each kind → the oldest is forgotten
 */
const NETWORKS_MAX = 50_000;

export class Guesses {
  readonly #report: (report: GuessReport) => void;
  /** Milliseconds of the monotonic clock. */
  readonly #now: () => number;
  readonly #windows = new CappedMap<string, Window>({ sizeMax: NETWORKS_MAX });
  #reports: { readonly endsAtMs: number; left: number } = { endsAtMs: 0, left: REPORTS_MAX };
  #others = 0;

  constructor(
    report: (report: GuessReport) => void,
    monotonicMs: () => number = () => performance.now(),
  ) {
    this.#report = report;
    this.#now = monotonicMs;
  }

  note(what: Guessed, address: string): void {
    const nowMs = this.#now();
    const key = `${what} ${networkOf(address)}`;
    const known = this.#windows.get(key);
    if (known !== undefined && nowMs < known.endsAtMs) {
      known.unreported += 1;
      return;
    }
    const times = (known?.unreported ?? 0) + 1;
    const isReported = this.#takeReport(nowMs);
    const unreported = isReported ? 0 : times;
    this.#windows.set(key, { endsAtMs: nowMs + WINDOW_MS, unreported });
    if (!isReported) {
      this.#others += 1;
      return;
    }
    const others = this.#others;
    this.#others = 0;
    this.#report({ what, address, times, others });
  }

  #takeReport(nowMs: number): boolean {
    if (nowMs >= this.#reports.endsAtMs) {
      this.#reports = { endsAtMs: nowMs + WINDOW_MS, left: REPORTS_MAX };
    }
    if (this.#reports.left === 0) return false;
    this.#reports.left -= 1;
    return true;
  }
}
