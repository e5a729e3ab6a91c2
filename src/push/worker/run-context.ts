/** The objects that a runner works with: those of its worker, and those of its task. */

import type { Logger } from 'pino';
import type { RetryPolicy } from '../../providers/provider.ts';
import type { AnyProvider } from '../../providers/providers.ts';
import type { Sender } from '../../providers/sender.ts';
import type { Clock } from '../../std/clock.ts';
import type { Step } from '../../std/step.ts';
import type { TagIndex } from '../../tag-index/tag-index.ts';
import type { Pace } from '../protocol/pace.ts';
import type { Permits } from '../protocol/permits.ts';
import type { Report, Unfamiliar } from '../protocol/task.ts';
import type { TakenPlaces, WantedPlaces } from '../sql/ledger/take-places.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { FairQueue } from './fair-queue.ts';
import type { Lease } from './lease.ts';
import type { BudgetShare } from './send-budget.ts';
import type { TaskControl } from './task-control.ts';

export interface RunContext {
  readonly tagIndex: TagIndex;
  /** Null when nothing will be sent. */
  readonly sender: Sender | null;
  readonly fairQueue: FairQueue | null;
  readonly breaker: CircuitBreaker;
  /** Null: no quota limits it. */
  readonly permits: Permits | null;
  /** Null: the notification is held to no rate. */
  readonly pace: Pace | null;
  readonly share: BudgetShare;
  readonly lease: Lease;
  readonly control: TaskControl;
  readonly clock: Clock;
  readonly log: Logger;
  readonly report: Report;
  /** Takes places for devices that caps concern. */
  readonly takePlaces: (asked: WantedPlaces) => Promise<TakenPlaces>;
  /** The provider says that the authorization has expired: the main thread sends a new one. */
  readonly authorizationExpired: () => void;
  /** The authorization was signed later than now: the clock was set back since. */
  readonly isAuthorizationAhead: () => boolean;
  /** The provider got too many tokens of this key: no node makes another for a while. */
  readonly tooManyTokens: () => void;
  /** The provider refuses a credential with a fallback: the task gives its rest back. */
  readonly credentialRefused: (reason: string) => void;
  /** The provider gave a reason that is in no documentation. */
  readonly unfamiliar: (answer: Unfamiliar) => void;
  /** Reports what was done; null: the task is not traced. */
  readonly step: ((step: Step) => void) | null;
  readonly provider: Pick<AnyProvider, 'tooManyTokens'>;
  readonly retryPolicy: RetryPolicy;
}
