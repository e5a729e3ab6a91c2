/** Logs failures that come by the thousand: the first of a kind whole, later ones counted. */

import type { Logger } from 'pino';

interface Failure {
  readonly level: 'warn' | 'error';
  readonly sentence: string;
  readonly error: unknown;
  readonly context: Readonly<Record<string, unknown>>;
}

const STACK_LINE = /^\s+at .*$/m;

interface Kind {
  latest: Failure;
  untold: number;
}

/**
 * An outage of an hour makes some hundred lines. A kind is new again after as long without one.
 * @limit between lines in the log about one kind of failed requests or registrations; the first is
 * logged at once → counted in the next line
 */
const INTERVAL_MS = 10_000;
/**
 * More codes and places of failures do not exist.
 * @limit kinds of failed requests or registrations in the log → counted together
 */
const KINDS_MAX = 100;

export class FailureLog {
  readonly #log: Logger;
  readonly #kinds = new Map<string, Kind>();
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  tell(failure: Failure): void {
    const kind = this.#kindOf(failure);
    const known = this.#kinds.get(kind);
    if (known !== undefined) {
      known.latest = failure;
      known.untold += 1;
      return;
    }
    const { level, sentence, error, context } = failure;
    this.#log[level]({ err: error, ...context }, sentence);
    this.#kinds.set(kind, { latest: failure, untold: 0 });
    this.#timer ??= setInterval(() => this.#tellCounts(), INTERVAL_MS).unref();
  }

  stop(): void {
    this.#tellCounts();
    this.#kinds.clear();
    this.#rest();
  }

  #kindOf({ sentence, error }: Failure): string {
    const kind = `${sentence} ${errorKind(error)}`;
    return this.#kinds.has(kind) || this.#kinds.size < KINDS_MAX ? kind : 'others';
  }

  #tellCounts(): void {
    for (const [name, kind] of this.#kinds) {
      if (kind.untold === 0) this.#kinds.delete(name);
      else this.#tellCount(kind);
    }
    if (this.#kinds.size === 0) this.#rest();
  }

  #tellCount(kind: Kind): void {
    const { level, sentence, error, context } = kind.latest;
    this.#log[level]({ times: kind.untold, ...context, reason: reasonOf(error) }, sentence);
    kind.untold = 0;
  }

  #rest(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Failures with the same code, or from the same line of a program, are of one kind. */
const errorKind = (error: unknown): string =>
  codeOf(error) ?? (error instanceof Error ? (STACK_LINE.exec(error.stack ?? '')?.[0] ?? '') : '');

const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${codeOf(error) ?? error.name}: ${error.message}` : String(error);
