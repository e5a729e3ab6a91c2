/** Collects the open circuit breakers of this node's workers, for the log and the metrics. */

import type { Logger } from 'pino';
import type { Scope } from '../../domain/device.ts';
import { faultSentence } from '../../providers/fault-sentence.ts';

/** Older reports came from dead threads: each probes, and reports, every five minutes. */
const STALE_MS = 15 * 60_000;

/** One scope whose provider fails for everyone. */
export interface CircuitReading extends Scope {
  readonly openThreads: number;
}

export class CircuitBreakers {
  private readonly log: Logger;
  /** When each thread last reported its open breaker, keyed by scope, then by thread. */
  private readonly open = new Map<string, Map<number, number>>();

  constructor(log: Logger) {
    this.log = log;
  }

  hear(threadId: number, scopeKeys: readonly string[], openFor: string | null): void {
    for (const scopeKey of scopeKeys) {
      if (openFor === null) this.close(scopeKey, threadId);
      else this.note(scopeKey, threadId, openFor);
    }
  }

  get readings(): readonly CircuitReading[] {
    const freshMs = performance.now() - STALE_MS;
    for (const [scopeKey, threads] of this.open) {
      for (const [threadId, toldAtMs] of threads) if (toldAtMs < freshMs) threads.delete(threadId);
      if (threads.size === 0) this.open.delete(scopeKey);
    }
    return [...this.open].map(([scopeKey, threads]) => ({
      ...scopeOfKey(scopeKey),
      openThreads: threads.size,
    }));
  }

  private note(scopeKey: string, threadId: number, reason: string): void {
    const threads = this.open.get(scopeKey);
    if (threads === undefined) {
      this.open.set(scopeKey, new Map([[threadId, performance.now()]]));
      this.log.warn(
        { ...scopeOfKey(scopeKey), reason, meaning: faultSentence(reason) },
        'a provider fails for everyone: its circuit is open, and probes go on',
      );
      return;
    }
    threads.set(threadId, performance.now());
  }

  private close(scopeKey: string, threadId: number): void {
    const threads = this.open.get(scopeKey);
    if (threads === undefined || !threads.delete(threadId) || threads.size > 0) return;
    this.open.delete(scopeKey);
    this.log.info(scopeOfKey(scopeKey), 'a provider works again: its circuit is closed');
  }
}

/** The inverse of `scopeKeyOf`. */
function scopeOfKey(scopeKey: string): Scope {
  const [appId = 0, platformId = 0] = scopeKey.split('.').map(Number);
  return { appId, platformId };
}
