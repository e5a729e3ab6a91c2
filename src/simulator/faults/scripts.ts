/**
 * Answers that a test has written for single tokens: the next n pushes get them, then all is as
 * before.
 */

import { z } from 'zod';

export const scriptSchema = z.strictObject({
  status: z.number().int().min(200).max(599),
  /**
   * APNs: the reason of the body. FCM: the errorCode, or a google.rpc status such as
   * PERMISSION_DENIED.
   */
  reason: z.string().min(1).max(255).exactOptional(),
  /** APNs 410: since when the token is dead, in epoch milliseconds. */
  timestamp: z.number().int().min(0).exactOptional(),
  retryAfterSeconds: z.number().int().min(0).exactOptional(),
  /** How often; absent: for ever. */
  times: z.number().int().min(1).exactOptional(),
});

export type ScriptedAnswer = Readonly<z.infer<typeof scriptSchema>>;

/** Scripts are written one request at a time; nobody writes more by hand or in a test. */
export const SCRIPTS_MAX = 100_000;

export class Scripts {
  readonly #scripts = new Map<string, { readonly script: ScriptedAnswer; left: number }>();

  /** Takes the script in, in place of an earlier one; false when there are too many. */
  write(token: string, script: ScriptedAnswer): boolean {
    if (this.#scripts.size >= SCRIPTS_MAX && !this.#scripts.has(token)) return false;
    this.#scripts.set(token, { script, left: script.times ?? Number.POSITIVE_INFINITY });
    return true;
  }

  /** The answer that is written for this push, which thereby is used once. */
  take(token: string): ScriptedAnswer | undefined {
    // Nearly always there are none; finding that out by the token costs a hash of it.
    if (this.#scripts.size === 0) return undefined;
    const entry = this.#scripts.get(token);
    if (entry === undefined) return undefined;
    entry.left -= 1;
    if (entry.left === 0) this.#scripts.delete(token);
    return entry.script;
  }

  reset(): void {
    this.#scripts.clear();
  }
}
