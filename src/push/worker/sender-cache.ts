/**
 * A worker's cached senders, one per credential (the provider counts by it), each with its circuit
 * breaker and fair queue. One that no app uses any more is closed.
 */

import { hash } from 'node:crypto';
import type { SenderOptions } from '../../providers/create-sender.ts';
import { createSender } from '../../providers/create-sender.ts';
import type { ProviderCredential } from '../../providers/providers.ts';
import type { Sender } from '../../providers/sender.ts';
import type { Clock } from '../../std/clock.ts';
import type { TransportMeter } from '../../transport/transport-meter.ts';
import type { AuthorizedCredential } from '../protocol/task.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { FairQueue } from './fair-queue.ts';
import type { BudgetUse } from './send-budget.ts';

/** @limit credentials with a connection, per thread → the one unused for longest is closed */
const SENDERS_MAX = 64;

export interface CachedSender {
  readonly sender: Sender;
  readonly fairQueue: FairQueue;
  readonly breaker: CircuitBreaker;
  readonly fingerprint: string;
  readonly budgetUse: BudgetUse;
  /** The scopes that were last used with this credential. */
  readonly scopes: Set<string>;
  /** Tasks that use it. */
  users: number;
  /** Replaced or evicted: its last user closes it. */
  isRetired: boolean;
}

/** The options that all senders of a process have in common. */
interface SenderCacheOptions
  extends Required<Pick<SenderOptions, 'origins' | 'transport' | 'limits'>> {
  /** Count what the transports do, keyed by the kind of the credential. */
  readonly meters: ReadonlyMap<string, TransportMeter>;
  /** Called when the circuit breaker opens, when a probe has failed, and when it closes. */
  readonly onBreakerSwitched: (cached: CachedSender) => void;
}

export class SenderCache {
  private readonly options: SenderCacheOptions;
  private readonly clock: Clock;
  /** Keyed by the credential's fingerprint. The one unused for longest is first. */
  private readonly senders = new Map<string, CachedSender>();
  /** Keyed by scope. */
  private readonly current = new Map<string, CachedSender>();

  constructor(options: SenderCacheOptions, clock: Clock) {
    this.options = options;
    this.clock = clock;
  }

  /** The sender of a scope's credential, a new one if that changed. `release` gives it back. */
  acquire(scopeKey: string, { credential, authorization }: AuthorizedCredential): CachedSender {
    const fingerprint = hash('sha256', JSON.stringify(credential), 'base64url');
    const cached =
      this.senders.get(fingerprint) ?? this.open(credential, authorization, fingerprint);
    this.senders.delete(fingerprint);
    this.senders.set(fingerprint, cached);
    this.move(scopeKey, cached);
    cached.users += 1;
    cached.sender.authorize(authorization);
    if (this.senders.size > SENDERS_MAX) this.evict();
    return cached;
  }

  release(cached: CachedSender): void {
    cached.users -= 1;
    if (cached.isRetired && cached.users === 0) void cached.sender.close();
  }

  private open(
    credential: ProviderCredential,
    authorization: string,
    fingerprint: string,
  ): CachedSender {
    const { origins, transport, limits, meters, onBreakerSwitched } = this.options;
    const meter = meters.get(credential.kind);
    const breaker = new CircuitBreaker(this.clock);
    const sender = createSender(credential, { origins, transport, limits, authorization, meter });
    const cached: CachedSender = {
      sender,
      fairQueue: new FairQueue(sender, this.clock),
      breaker,
      fingerprint,
      budgetUse: { used: 0 },
      scopes: new Set(),
      users: 0,
      isRetired: false,
    };
    breaker.switched.on(() => onBreakerSwitched(cached));
    return cached;
  }

  private move(scopeKey: string, cached: CachedSender): void {
    const before = this.current.get(scopeKey);
    if (before === cached) return;
    this.current.set(scopeKey, cached);
    cached.scopes.add(scopeKey);
    before?.scopes.delete(scopeKey);
    if (before?.scopes.size === 0) this.retire(before);
  }

  private evict(): void {
    const [oldest] = this.senders.values();
    if (oldest !== undefined) this.retire(oldest);
  }

  private retire(cached: CachedSender): void {
    this.senders.delete(cached.fingerprint);
    for (const scopeKey of cached.scopes) this.current.delete(scopeKey);
    cached.isRetired = true;
    if (cached.users === 0) void cached.sender.close();
  }
}
