/**
 * Answers that a test has written for single tokens: the next n pushes get them, later ones are
 * decided as before.
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
  /** For how many pushes; absent: for all. */
  times: z.number().int().min(1).exactOptional(),
});

export type ScriptedAnswer = Readonly<z.infer<typeof scriptSchema>>;

/**
 * Each script takes one request: neither people nor tests write more.
 * @limit scripted answers → refused
 */
export const SCRIPTS_MAX = 100_000;

export class Scripts {
  readonly #scripts = new Map<string, { readonly script: ScriptedAnswer; left: number }>();

  /** Adds the script, in place of an earlier one; false when there are too many. */
  write(token: string, script: ScriptedAnswer): boolean {
    if (this.#scripts.size >= SCRIPTS_MAX && !this.#scripts.has(token)) return false;
    this.#scripts.set(token, { script, left: script.times ?? Number.POSITIVE_INFINITY });
    return true;
  }

  /** The scripted answer to this push, which uses it once. */
  take(token: string): ScriptedAnswer | undefined {
    // Nearly always there are none. Looking the token up would cost a hash of it.
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
