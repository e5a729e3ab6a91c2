/**
 * Counts the frames that cost us work without any use: PING, SETTINGS, resets, empty DATA,
 * PRIORITY, unknown ones (CVE-2019-9512 to 9518, CVE-2023-44487). A peer may send some at any time,
 * and more the more useful work it takes part in.
 */

import { ConnectionError, ErrorCode } from '../error.ts';

/** Allowed without any useful work; no server that we observed comes near a hundred. */
const IDLE_FRAMES_MAX = 1_000;
/**
 * Allowed per request that was sent or served, and per frame of content: WINDOW_UPDATEs for stream
 * and connection, a reset, one more.
 */
const IDLE_FRAMES_PER_STEP = 4;
/**
 * The limit of saved frames: a flood ends after this many, however much useful work came before.
 */
const IDLE_FRAMES_SAVED_MAX = 100_000;
/** The count starts again after this time. */
const PERIOD_MS = 10_000;

export class FloodGuard {
  #allowed = IDLE_FRAMES_MAX;
  #startedAtMs = performance.now();

  /** A request was sent, or served, or a frame of content was sent. */
  earn(): void {
    if (this.#allowed < IDLE_FRAMES_SAVED_MAX) this.#allowed += IDLE_FRAMES_PER_STEP;
  }

  /** A frame without use arrived. Throws ENHANCE_YOUR_CALM when there were too many. */
  spend(): void {
    this.#allowed -= 1;
    if (this.#allowed >= 0) return;
    const nowMs = performance.now();
    if (nowMs - this.#startedAtMs < PERIOD_MS) {
      throw new ConnectionError(ErrorCode.ENHANCE_YOUR_CALM, 'a flood of frames without use');
    }
    this.#startedAtMs = nowMs;
    this.#allowed = IDLE_FRAMES_MAX;
  }
}
