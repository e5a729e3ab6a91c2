/**
 * Gives this node's tasks the sends that a notification with a rate may begin, drawn from the
 * database a tenth of a second at a time (push/sql/notifications/draw-pace.ts). So a rate costs ten
 * statements a second at most.
 */

import type { Logger } from 'pino';
import type { Sql } from '../../database/sql.ts';
import type { NotificationScope } from '../../domain/notification.ts';
import { notificationScopeKeyOf } from '../../domain/notification.ts';
import type { Clock } from '../../std/clock.ts';
import type { PaceMessage, PaceSpan } from '../protocol/pace.ts';
import { drawPace } from '../sql/notifications/draw-pace.ts';

/**
 * A thread may not be able to send more in time.
 * @limit sends of a piece that one task gets while others wait → divided
 */
const SPAN_SENDS_SHARED_ABOVE = 1_000;
/**
 * Tasks that wait draw again after so long at the latest: the rate may be another one then.
 * @limit between draws of a rate (`ratePerSecond`) that gave nothing, at most → tasks wait
 */
const DRAW_AGAIN_MS_MAX = 250;
/** @limit between draws of a rate while the database is away → tasks wait */
const NOTHING_DRAWN_MS = 1_000;
/** @limit drawn sends kept without a task → lost */
const IDLE_MS = 1_000;

interface PacerOptions {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly log: Logger;
}

interface PaceMember {
  hear(message: PaceMessage): void;
  /** The task has ended, whether well or not. */
  leave(): void;
}

export class Pacer {
  private readonly options: PacerOptions;
  private readonly courses = new Map<string, Course>();

  constructor(options: PacerOptions) {
    this.options = options;
  }

  /** Adds a task; `answer` gives it the spans that it asks for. */
  join(part: NotificationScope, answer: (span: PaceSpan) => void): PaceMember {
    const { notificationId } = part;
    const known = this.courses.get(notificationId);
    if (known !== undefined) return known.join(part, answer);
    const course = new Course(notificationId, this.options, () => {
      this.courses.delete(notificationId);
    });
    this.courses.set(notificationId, course);
    return course.join(part, answer);
  }
}

interface Member {
  readonly scopeKey: string;
  readonly answer: (span: PaceSpan) => void;
  isWaiting: boolean;
}

class Course {
  private readonly notificationId: string;
  private readonly options: PacerOptions;
  private readonly gone: () => void;
  /** In the order in which they came. */
  private members: readonly Member[] = [];
  /** The turn in which each scope was served last. */
  private readonly servedAt = new Map<string, number>();
  private turn = 0;
  /** Spans that were drawn and belong to no task. */
  private spans: readonly PaceSpan[] = [];
  private isDrawing = false;
  private drawAgainAtMs = 0;
  private drawTimer: NodeJS.Timeout | null = null;
  private idleTimer: NodeJS.Timeout | null = null;

  constructor(notificationId: string, options: PacerOptions, gone: () => void) {
    this.notificationId = notificationId;
    this.options = options;
    this.gone = gone;
  }

  join(part: NotificationScope, answer: (span: PaceSpan) => void): PaceMember {
    if (this.idleTimer !== null) clearTimeout(this.idleTimer);
    const member: Member = { scopeKey: notificationScopeKeyOf(part), answer, isWaiting: false };
    this.members = [...this.members, member];
    return {
      hear: (message) => this.hear(message, member),
      leave: () => this.leave(member),
    };
  }

  private hear(message: PaceMessage, member: Member): void {
    member.isWaiting = message.kind === 'wanted';
    if (message.kind === 'unused') this.spans = [...message.spans, ...this.spans];
    this.serve();
  }

  private leave(member: Member): void {
    this.members = this.members.filter((other) => other !== member);
    if (this.members.length === 0) this.idleTimer = setTimeout(this.gone, IDLE_MS).unref();
  }

  /** Gives what is there to those who wait, and draws more for the others. */
  private serve(): void {
    const nowMs = this.options.clock.monotonicMs();
    this.spans = this.spans.filter(({ endMs }) => endMs > nowMs);
    for (let waiting = this.waiting(); waiting.length > 0; waiting = this.waiting()) {
      const [span, ...rest] = this.spans;
      if (span === undefined) break;
      this.spans = rest;
      this.give(span, waiting);
    }
    if (this.waiting().length > 0) this.draw();
  }

  /**
   * The scopes in turn, of each the first task, so its chunk is recorded before the next begins.
   */
  private waiting(): readonly Member[] {
    const turnOf = ({ scopeKey }: Member): number => this.servedAt.get(scopeKey) ?? 0;
    return this.members.filter((member) => member.isWaiting).sort((a, b) => turnOf(a) - turnOf(b));
  }

  private give(span: PaceSpan, waiting: readonly Member[]): void {
    const most = Math.max(SPAN_SENDS_SHARED_ABOVE, Math.ceil(span.sends / waiting.length));
    let left = span.sends;
    for (const member of waiting) {
      if (left === 0) return;
      const sends = Math.min(left, most);
      left -= sends;
      member.isWaiting = false;
      this.turn += 1;
      this.servedAt.set(member.scopeKey, this.turn);
      member.answer({ ...span, sends });
    }
  }

  private draw(): void {
    if (this.isDrawing) return;
    const { sql, clock, log } = this.options;
    const waitMs = this.drawAgainAtMs - clock.monotonicMs();
    if (waitMs > 0) {
      this.drawTimer ??= setTimeout(() => {
        this.drawTimer = null;
        this.serve();
      }, Math.ceil(waitMs)).unref();
      return;
    }
    this.isDrawing = true;
    void drawPace(sql, this.notificationId)
      .catch((err: unknown) => {
        const { notificationId } = this;
        log.warn({ err, notificationId }, 'the pace of a send cannot be drawn; trying again');
        return null;
      })
      .then((drawn) => {
        this.isDrawing = false;
        // From the answer on: so a slow one makes the sends late, and none early.
        const nowMs = clock.monotonicMs();
        if (drawn === null) this.drawAgainAtMs = nowMs + NOTHING_DRAWN_MS;
        else if (drawn.sends === 0) {
          this.drawAgainAtMs = nowMs + Math.min(drawn.startsInMs, DRAW_AGAIN_MS_MAX);
        } else {
          const startMs = nowMs + drawn.startsInMs;
          const endMs = startMs + drawn.lengthMs;
          this.spans = [...this.spans, { sends: drawn.sends, startMs, endMs }];
        }
        this.serve();
      });
  }
}
