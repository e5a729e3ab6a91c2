/** A worker's senders, one per credential, with what it knows of each provider: they live as long as the thread. */

import type { SenderOptions } from '../senders/create-sender.ts';
import { createSender } from '../senders/create-sender.ts';
import type { Sender } from '../senders/sender.ts';
import type { Clock } from '../std/clock.ts';
import { ProviderHealth } from './provider-health.ts';
import type { Authority } from './task.ts';

/** Connections that a thread keeps open: beyond it the one unused for longest is closed. */
const SENDERS_MAX = 64;

export interface Line {
  readonly sender: Sender;
  readonly health: ProviderHealth;
  readonly fingerprint: string;
  /** Tasks that use it. */
  users: number;
  /** Replaced or evicted: closed by its last user. */
  isRetired: boolean;
}

/** What all senders of a process have in common. */
export type SenderCacheOptions = Pick<SenderOptions, 'origins' | 'transport'>;

export class SenderCache {
  private readonly options: SenderCacheOptions;
  private readonly clock: Clock;
  /** By scope, the one unused for longest first. */
  private readonly lines = new Map<string, Line>();

  constructor(options: SenderCacheOptions, clock: Clock) {
    this.options = options;
    this.clock = clock;
  }

  /** The sender of a scope's credential; a changed credential gets a new one. Give it back with `release`. */
  acquire(scopeKey: string, { credential, authorization }: Authority): Line {
    const { origins, transport } = this.options;
    const fingerprint = JSON.stringify(credential);
    const known = this.lines.get(scopeKey);
    this.lines.delete(scopeKey);
    if (known !== undefined && known.fingerprint !== fingerprint) this.retire(known);
    const line =
      known !== undefined && known.fingerprint === fingerprint
        ? known
        : {
            sender: createSender(credential, { origins, transport, authorization }),
            health: new ProviderHealth(this.clock),
            fingerprint,
            users: 0,
            isRetired: false,
          };
    line.users += 1;
    line.sender.authorize(authorization);
    this.lines.set(scopeKey, line);
    this.evict();
    return line;
  }

  release(line: Line): void {
    line.users -= 1;
    if (line.isRetired && line.users === 0) void line.sender.close();
  }

  private evict(): void {
    if (this.lines.size <= SENDERS_MAX) return;
    for (const [scopeKey, line] of this.lines) {
      this.lines.delete(scopeKey);
      this.retire(line);
      return;
    }
  }

  private retire(line: Line): void {
    line.isRetired = true;
    if (line.users === 0) void line.sender.close();
  }
}
