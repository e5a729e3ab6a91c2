/** Rate limits by key: a token bucket for each key, with a limit on their number. */

interface TokenBucketsOptions {
  readonly perSecond: number;
  readonly bucketsMax: number;
}

interface Bucket {
  tokens: number;
  updatedAtMs: number;
}

/**
 * A bucket holds the tokens of one second. When the young generation is full the old one is
 * forgotten: its keys start again with a full bucket.
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

  /** Takes a token of `key`. `nowMs`: monotonic. `perSecond`: where the key has its own. */
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
