/** Paces checks that clients ask for: to a provider, short connections look like an attack. */

import { shareOf } from '../std/share.ts';
import { TokenBuckets } from '../std/token-buckets.ts';

/**
 * Checks that clients have asked for, at a time; each takes ten seconds at most.
 * @limit checks of credentials that clients ask a provider for (`probe`, `PUT …/platforms/<id>`),
 * at a time → `503`, `Retry-After: 5`
 */
const AT_ONCE_MAX = 8;
/** @limit such checks of one client, at a time → `503`, `Retry-After: 5` */
const OF_CLIENT_MAX = 2;
/** @limit such checks of one client in a second → `429`, `Retry-After: 1` */
const PER_SECOND_MAX = 1;
/**
 * @limit clients whose rates of these checks are remembered, in each of two generations →
 * forgotten, so with full rate again
 */
const BUCKETS_MAX = 10_000;

type Paced<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The client has just asked for one. */
  | { readonly kind: 'too-many' }
  /** Too many are under way, of this client or in all. */
  | { readonly kind: 'busy' };

export class PacedChecks {
  private readonly rates = new TokenBuckets({ perSecond: PER_SECOND_MAX, bucketsMax: BUCKETS_MAX });
  private readonly underWay: number[] = [];

  /** Runs `work`, which asks a provider, or says why not. */
  async run<T>(clientId: number, work: () => Promise<T>): Promise<Paced<T>> {
    const own = this.underWay.filter((id) => id === clientId).length;
    const share = shareOf(AT_ONCE_MAX - this.underWay.length, AT_ONCE_MAX);
    if (own >= Math.min(OF_CLIENT_MAX, share)) return { kind: 'busy' };
    if (!this.rates.take(String(clientId), performance.now())) return { kind: 'too-many' };
    this.underWay.push(clientId);
    try {
      return { kind: 'done', value: await work() };
    } finally {
      this.underWay.splice(this.underWay.indexOf(clientId), 1);
    }
  }
}
