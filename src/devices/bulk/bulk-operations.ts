/**
 * Carries out bulk operations, piece by piece, on any node. Sends and registrations go first: after
 * each piece the operation and the node rest for longer than it took.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Seldom } from '../../../packages/std/src/seldom.ts';
import { Recurring } from '../../std/recurring.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { BulkContext, BulkPiece } from './bulk-commit.ts';
import { commitBulkPiece } from './bulk-commit.ts';

/**
 * Time between two looks when nothing is due: each is a look at an index that is empty then.
 * @limit look for bulk operations while there is none
 */
const INTERVAL_MS = 2_000;
/** @limit between lines in the log about failures of bulk operations */
const TOLD_EVERY_MS = 10_000;

interface BulkOperationsOptions extends BulkContext {
  readonly feed: IndexFeed;
  readonly log: Logger;
}

export class BulkOperations {
  readonly #options: BulkOperationsOptions;
  readonly #end = new AbortController();
  readonly #failures = new Seldom(TOLD_EVERY_MS);
  readonly #runs = new Recurring(INTERVAL_MS, () => this.#runLogged());

  constructor(options: BulkOperationsOptions) {
    this.#options = options;
  }

  /** Works from now on, until stopped. */
  start(): void {
    this.#runs.start();
  }

  /** Resolves when the piece under way is committed. */
  async stop(): Promise<void> {
    this.#end.abort();
    await this.#runs.stop();
  }

  async runPiece(): Promise<boolean> {
    return (await this.#runPiece()) !== null;
  }

  async #runPiece(): Promise<BulkPiece | null> {
    const piece = await commitBulkPiece(this.#options);
    if (piece !== null) await this.#options.feed.apply(piece.changes);
    return piece;
  }

  async #runLogged(): Promise<void> {
    try {
      await this.#runAll();
    } catch (error) {
      const times = this.#failures.count();
      if (times === null) return;
      const sentence = 'a bulk operation failed; it will be tried again';
      this.#options.log.error({ err: error, times }, sentence);
    }
  }

  async #runAll(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      const piece = await this.#runPiece();
      if (piece === null) return;
      // A timer may be a millisecond early.
      const restMs = Math.ceil(piece.restMs) + 1;
      await sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
}
