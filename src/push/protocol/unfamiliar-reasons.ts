/** Remembers which undocumented reasons of providers were logged already: each is logged once. */

/**
 * Reasons remembered: without a limit a provider that invents some would fill the memory.
 * @limit reasons of providers that no documentation has, logged once each → not logged
 */
const REASONS_MAX = 1_000;

export class UnfamiliarReasons {
  private readonly told = new Set<string>();

  /** Whether this reason is new. Beyond the limit none is. */
  isNew(platformId: number, status: number, reason: string): boolean {
    const key = `${platformId} ${status} ${reason}`;
    if (this.told.size >= REASONS_MAX || this.told.has(key)) return false;
    this.told.add(key);
    return true;
  }
}
