/**
 * Which reasons of providers have been told already that no documentation knows. Each is worth one
 * line of the log in the life of a process: somebody should give it a reaction of its own.
 */

/**
 * Reasons remembered. They come from outside: without an end, a provider that makes them up would
 * fill the memory.
 */
const REASONS_MAX = 1_000;

export class UnfamiliarReasons {
  private readonly told = new Set<string>();

  /** Whether it is the first time; beyond the limit nothing is any more. */
  isNew(platformId: number, status: number, reason: string): boolean {
    const key = `${platformId} ${status} ${reason}`;
    if (this.told.size >= REASONS_MAX || this.told.has(key)) return false;
    this.told.add(key);
    return true;
  }
}
