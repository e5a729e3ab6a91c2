/**
 * The pace of one task in its worker. The main thread (push/dispatch/pacer.ts) gives it spans: so
 * many sends, evenly over a time. A send not begun within LATE_MS of its span is lost: no bursts.
 */

import type { Clock } from '../../std/clock.ts';
import { Signal } from '../../std/signal.ts';

/** @limit a drawn send may begin late by → lost */
const LATE_MS = 150;
/**
 * Sends that are due within this time begin together: a timer for each would cost more.
 * @limit sends that begin together
 */
const TICK_MS = 5;

/** Sends that may begin, one after the other, between two times of the monotonic clock. */
export interface PaceSpan {
  readonly sends: number;
  readonly startMs: number;
  readonly endMs: number;
}

export type PaceMessage =
  | { readonly kind: 'wanted' }
  /** The task has ended, or stops here. */
  | { readonly kind: 'unused'; readonly spans: readonly PaceSpan[] };

interface Open extends PaceSpan {
  begun: number;
}

export class Pace {
  /** Fires with every span. */
  readonly changed = new Signal();
  private readonly clock: Clock;
  private readonly say: (message: PaceMessage) => void;
  /** Sorted by their beginning. */
  private spans: Open[] = [];
  /** The span of the next send, if one may begin. */
  private due: Open | null = null;
  /** When the next send may begin that may not yet. */
  private nextMs = Number.POSITIVE_INFINITY;
  private isAsked = false;
  private isClosed = false;

  constructor(clock: Clock, say: (message: PaceMessage) => void) {
    this.clock = clock;
    this.say = say;
  }

  /** Whether one more send may begin now. Asks for another span unless sends are late. */
  get admits(): boolean {
    const nowMs = this.clock.monotonicMs();
    this.spans = this.spans.filter((span) => isOpen(span, nowMs));
    this.due = this.spans.find((span) => beginOf(span) <= nowMs) ?? null;
    this.nextMs =
      this.due === null ? Math.min(...this.spans.map(beginOf)) : Number.POSITIVE_INFINITY;
    const isLate = this.spans.some(({ endMs }) => endMs < nowMs);
    if (!isLate && !this.isAsked && !this.isClosed) {
      this.isAsked = true;
      this.say({ kind: 'wanted' });
    }
    return this.due !== null;
  }

  /** When `admits` has said that none may. Infinite: until `changed` fires. */
  get nextInMs(): number {
    return Math.max(TICK_MS, Math.ceil(this.nextMs - this.clock.monotonicMs()));
  }

  /** A send begins; `admits` has just said that it may. */
  take(): void {
    if (this.due !== null) this.due.begun += 1;
  }

  hear(span: PaceSpan): void {
    this.isAsked = false;
    if (this.isClosed) {
      this.say({ kind: 'unused', spans: [span] });
      return;
    }
    this.spans.push({ ...span, begun: 0 });
    this.spans.sort((a, b) => a.startMs - b.startMs);
    this.changed.fire();
  }

  /** Nothing more is sent: what is left may be of use to another task. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const nowMs = this.clock.monotonicMs();
    const spans = this.spans
      .filter((span) => span.begun < span.sends && span.endMs > nowMs)
      .map((span) => ({
        sends: span.sends - span.begun,
        startMs: beginOf(span),
        endMs: span.endMs,
      }));
    this.spans = [];
    if (this.isAsked || spans.length > 0) this.say({ kind: 'unused', spans });
  }
}

const beginOf = ({ sends, startMs, endMs, begun }: Open): number =>
  startMs + ((endMs - startMs) * begun) / sends;

const isOpen = ({ sends, endMs, begun }: Open, nowMs: number): boolean =>
  begun < sends && nowMs < endMs + LATE_MS;
