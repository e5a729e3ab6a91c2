/**
 * Erases the devices that providers call dead, through the deletion gate. The devices are listed in
 * the database since their outcomes were recorded, so a node that dies in between loses none. A
 * bounded piece at a time, on any node and on several at once.
 *
 *   pending ──gate passes──► carried out         held ──an operator──► released ──► carried out
 *      └──finished, gate holds,                    └──an operator, or 30 days──► discarded ──► forgotten
 *         also without the tokens that an installation id has replaced──► held
 */

import type { Logger } from 'pino';
import type { SqlPool } from '../../database/sql.ts';
import { TransactionBudget } from '../../database/transaction-budget.ts';
import { carryOutReplacedTokens } from '../../devices/replaced-tokens.ts';
import { deletionGateOf } from '../../domain/deletion-gate.ts';
import { notificationScopeKeyOf } from '../../domain/notification.ts';
import { Recurring } from '../../std/recurring.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import { carryOutDeletions, forgetDeletions } from '../sql/deletions/carry-out.ts';
import type { OpenDeletions } from '../sql/deletions/scopes.ts';
import {
  closeDeletions,
  discardOldDeletions,
  forgetRefusals,
  holdDeletions,
  listOpenDeletions,
} from '../sql/deletions/scopes.ts';

/**
 * Time between two runs. It is not urgent: until then a dead device costs one more refused send.
 * @limit between looks for deletions
 */
const INTERVAL_MS = 2_000;
/** @limit scopes in a look → the next look */
const SCOPES_MAX = 1_000;
/**
 * Registrations wait for the rows of the groups meanwhile.
 * @limit devices deleted in a transaction → the next one
 */
const DEVICES_MAX = 1_000;
/** @limit transactions in a look → the next look */
const TRANSACTIONS_MAX = 20;
/**
 * An old answer proves nothing any more.
 * @limit deletions are held without a decision → discarded: the devices stay
 */
const HELD_MS_MAX = 30 * 86_400_000;

interface DeletionsOptions {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly log: Logger;
  /** Called with the number of devices that are not erased before an operator decides. */
  onHeld(platformId: number, devices: number): void;
}

export class Deletions {
  private readonly options: DeletionsOptions;
  private readonly runs = new Recurring(INTERVAL_MS, () => this.runLogged());
  private budget = new TransactionBudget(TRANSACTIONS_MAX);
  /** Where the search for replaced tokens stands, of the scope whose gate holds. */
  private search: { readonly of: string; readonly ordinal: number } | null = null;

  constructor(options: DeletionsOptions) {
    this.options = options;
  }

  start(): void {
    this.runs.start();
  }

  /** Resolves when the run under way has ended. */
  stop(): Promise<void> {
    return this.runs.stop();
  }

  async run(): Promise<void> {
    const { sql } = this.options;
    this.budget = new TransactionBudget(TRANSACTIONS_MAX);
    await discardOldDeletions(sql, HELD_MS_MAX);
    for (const scope of await listOpenDeletions(sql, SCOPES_MAX)) {
      if (this.budget.isSpent) return;
      await this.look(scope);
    }
  }

  private async look(scope: OpenDeletions): Promise<void> {
    const { sql } = this.options;
    const gate = scope.decision === 'released' ? 'passes' : deletionGateOf(scope);
    if (scope.decision === 'discarded') {
      await this.empty(scope, () => forgetDeletions(sql, scope, DEVICES_MAX));
    } else if (gate === 'passes') {
      await this.letPass(scope);
    } else if (gate === 'holds') {
      await this.searchThenHold(scope);
    }
  }

  private async letPass(scope: OpenDeletions): Promise<void> {
    // A send that was refused as a whole shows a fault of the sender, not of its devices.
    if (scope.delivered === 0) await forgetRefusals(this.options.sql, scope);
    await this.empty(scope, () => this.carryOut(scope));
  }

  /** Erases replaced tokens first: without them the gate may let the rest pass. */
  private async searchThenHold(scope: OpenDeletions): Promise<void> {
    const { sql, feed } = this.options;
    const of = notificationScopeKeyOf(scope);
    let { gone } = scope;
    let after = this.search?.of === of ? this.search.ordinal : -1;
    while (this.budget.take()) {
      const piece = await carryOutReplacedTokens(sql, scope, after, DEVICES_MAX);
      await feed.apply(piece.changes);
      gone -= piece.devices;
      if (piece.lastOrdinal === null) {
        this.search = null;
        const rest = { ...scope, gone };
        if (deletionGateOf(rest) === 'passes') await this.letPass(rest);
        else await this.hold(rest);
        return;
      }
      after = piece.lastOrdinal;
      this.search = { of, ordinal: after };
    }
  }

  /** Takes pieces until nothing is left, or until this run has done enough. */
  private async empty(scope: OpenDeletions, take: () => Promise<number>): Promise<void> {
    const isEmpty = await this.budget.empty(DEVICES_MAX, take);
    if (isEmpty && scope.isFinished) await closeDeletions(this.options.sql, scope);
  }

  private async carryOut(scope: OpenDeletions): Promise<number> {
    const { sql, feed } = this.options;
    const { devices, changes } = await carryOutDeletions(sql, scope, DEVICES_MAX);
    await feed.apply(changes);
    return devices;
  }

  private async hold(scope: OpenDeletions): Promise<void> {
    const { sql, log, onHeld } = this.options;
    this.budget.take();
    const held = await holdDeletions(sql, scope);
    if (held === null) return;
    const { notificationId, appId, platformId, delivered, gone, refused } = scope;
    const fields = { notificationId, appId, platformId, delivered, gone, refused, held };
    log.warn(
      fields,
      'too many devices of a send were reported dead or refused: none is erased; see `tagcast deletions`',
    );
    if (held > 0) onHeld(platformId, held);
  }

  private async runLogged(): Promise<void> {
    try {
      await this.run();
    } catch (error) {
      this.options.log.error(
        { err: error },
        'condemned devices could not be erased; it will be tried again',
      );
    }
  }
}
