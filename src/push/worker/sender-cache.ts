/**
 * A worker's cached senders, one per credential, each with its circuit breaker and its fair queue.
 * They live as long as the thread. Apps with the same credential share one, because the provider
 * counts by credential. A sender whose credential no app uses any more is closed.
 */

import { hash } from 'node:crypto';
import type { ProviderCredential } from '../../domain/credential.ts';
import type { SenderOptions } from '../../providers/create-sender.ts';
import { createSender } from '../../providers/create-sender.ts';
import type { Sender } from '../../providers/sender.ts';
import type { Clock } from '../../std/clock.ts';
import type { Authority } from '../protocol/task.ts';
import { ProviderHealth } from './provider-health.ts';
import type { BudgetLine } from './send-budget.ts';
import { Turns } from './turns.ts';

/** Senders that a thread keeps. Beyond it the one unused for longest is closed. */
const SENDERS_MAX = 64;

export interface Line {
  readonly sender: Sender;
  readonly turns: Turns;
  readonly health: ProviderHealth;
  readonly fingerprint: string;
  readonly budgetLine: BudgetLine;
  /** The scopes that were last used with this credential. */
  readonly scopes: Set<string>;
  /** Tasks that use it. */
  users: number;
  /** Replaced or evicted: its last user closes it. */
  isRetired: boolean;
}

/** The options that all senders of a process have in common. */
export interface SenderCacheOptions
  extends Required<Pick<SenderOptions, 'origins' | 'transport' | 'limits'>> {
  /** Called when the circuit breaker opens, when a probe has failed, and when it closes. */
  readonly onCircuit: (line: Line) => void;
}

export class SenderCache {
  private readonly options: SenderCacheOptions;
  private readonly clock: Clock;
  /** By the credential's fingerprint. The one unused for longest is first. */
  private readonly lines = new Map<string, Line>();
  /** By scope. */
  private readonly current = new Map<string, Line>();

  constructor(options: SenderCacheOptions, clock: Clock) {
    this.options = options;
    this.clock = clock;
  }

  /** The sender of a scope's credential, a new one if that changed. `release` gives it back. */
  acquire(scopeKey: string, { credential, authorization }: Authority): Line {
    const fingerprint = hash('sha256', JSON.stringify(credential), 'base64url');
    const line = this.lines.get(fingerprint) ?? this.open(credential, authorization, fingerprint);
    this.lines.delete(fingerprint);
    this.lines.set(fingerprint, line);
    this.move(scopeKey, line);
    line.users += 1;
    line.sender.authorize(authorization);
    if (this.lines.size > SENDERS_MAX) this.evict();
    return line;
  }

  release(line: Line): void {
    line.users -= 1;
    if (line.isRetired && line.users === 0) void line.sender.close();
  }

  private open(credential: ProviderCredential, authorization: string, fingerprint: string): Line {
    const { origins, transport, limits, onCircuit } = this.options;
    const health = new ProviderHealth(this.clock);
    const sender = createSender(credential, { origins, transport, limits, authorization });
    const line: Line = {
      sender,
      turns: new Turns(sender, this.clock),
      health,
      fingerprint,
      budgetLine: { used: 0 },
      scopes: new Set(),
      users: 0,
      isRetired: false,
    };
    health.switched.on(() => onCircuit(line));
    return line;
  }

  /** The scope uses this sender from now on. */
  private move(scopeKey: string, line: Line): void {
    const before = this.current.get(scopeKey);
    if (before === line) return;
    this.current.set(scopeKey, line);
    line.scopes.add(scopeKey);
    before?.scopes.delete(scopeKey);
    if (before?.scopes.size === 0) this.retire(before);
  }

  private evict(): void {
    const [oldest] = this.lines.values();
    if (oldest !== undefined) this.retire(oldest);
  }

  private retire(line: Line): void {
    this.lines.delete(line.fingerprint);
    for (const scopeKey of line.scopes) this.current.delete(scopeKey);
    line.isRetired = true;
    if (line.users === 0) void line.sender.close();
  }
}
