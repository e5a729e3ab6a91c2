/** Rate limits by key: a token bucket for each key, with a limit on their number. */

interface TokenBucketsOptions {
  readonly perSecond: number;
  /** Buckets remembered in each of two generations. */
  readonly bucketsMax: number;
}

interface Bucket {
  tokens: number;
  updatedAtMs: number;
}

/**
 * A bucket holds the tokens of one second. Two generations bound the memory: when the young one is
 * full the old one is forgotten, and its keys start again with a full bucket. An attacker with that
 * many addresses is not stopped by limits per address anyway.
 */
export class TokenBuckets {
  private readonly perSecond: number;
  private readonly bucketsMax: number;
  private young = new Map<string, Bucket>();
  private old = new Map<string, Bucket>();

  constructor({ perSecond, bucketsMax }: TokenBucketsOptions) {
    this.perSecond = perSecond;
    this.bucketsMax = bucketsMax;
  }

  /**
   * Takes a token of `key`, if its bucket has one. `nowMs` is a monotonic clock. `perSecond`: the
   * rate of this key, where it has its own.
   */
  take(key: string, nowMs: number, perSecond = this.perSecond): boolean {
    const bucket = this.bucketOf(key, nowMs, perSecond);
    const gained = ((nowMs - bucket.updatedAtMs) * perSecond) / 1_000;
    bucket.tokens = Math.min(perSecond, bucket.tokens + gained);
    bucket.updatedAtMs = nowMs;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  private bucketOf(key: string, nowMs: number, perSecond: number): Bucket {
    const known = this.young.get(key);
    if (known !== undefined) return known;
    const bucket = this.old.get(key) ?? { tokens: perSecond, updatedAtMs: nowMs };
    if (this.young.size >= this.bucketsMax) {
      this.old = this.young;
      this.young = new Map();
    }
    this.young.set(key, bucket);
    return bucket;
  }
}
