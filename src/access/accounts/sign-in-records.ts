/**
 * Records sign-ins and refused ones: in the audit logs of the account's clients, and, where there
 * is no such log or not it alone (operators, no client), in the engine's own.
 */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import { networkOf } from '../../../packages/std/src/ip-address.ts';
import type { AccountEvent } from '../../audit/record-for-account.ts';
import { recordForAccount, shareClientsOf } from '../../audit/record-for-account.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import { Batcher } from '../../std/batcher.ts';
import type { AccountRow } from '../sql/accounts.ts';

export interface SignInOrigin {
  readonly address: string;
  readonly requestId: string;
}

export type AccountReport = Omit<AccountEvent, 'email' | 'detail'>;

export type RecordedAccount = Pick<AccountRow, 'id' | 'email' | 'isOperator'>;

/**
 * The window in which attempts are counted.
 * @limit a refused sign-in of an account from one network is in the audit log once in → the log
 * line of the network has them
 */
const WINDOW_MS = 900_000;
/**
 * An attacker with thousands of networks does not fill the log.
 * @limit networks from which such sign-ins of an account are recorded in that time → the log line
 * of the network has them
 */
const NETWORKS_OF_ACCOUNT_MAX = 20;
/**
 * Accounts whose refused sign-ins are remembered, about 3 KB each at most.
 * @limit accounts whose refused sign-ins are remembered for the audit log → the oldest is forgotten
 */
const ACCOUNTS_MAX = 2_000;
/** @limit refused sign-ins written to the audit log together → the next transaction */
const BATCH_MAX = 100;

interface Window {
  readonly endsAtMs: number;
  readonly networks: Set<string>;
}

export class SignInRecords {
  readonly #report: (report: AccountReport) => void;
  /** Milliseconds of the monotonic clock. */
  readonly #now: () => number;
  readonly #windows = new CappedMap<number, Window>({ sizeMax: ACCOUNTS_MAX });
  readonly #refused: Batcher<readonly [RecordedAccount, AccountEvent], void>;

  constructor(
    sql: SqlPool,
    report: (report: AccountReport) => void,
    monotonicMs: () => number = () => performance.now(),
  ) {
    this.#report = report;
    this.#now = monotonicMs;
    this.#refused = new Batcher({
      itemsMax: BATCH_MAX,
      run: async (events) => {
        await transact(sql, async (tx) => {
          for (const [account, event] of events) {
            const clientIds = await shareClientsOf(tx, account.id);
            await this.write(tx, clientIds, account, event);
          }
        });
        return events.map(() => undefined);
      },
    });
  }

  /** Within a transaction that has begun with `shareClientsOf`. */
  async write(
    tx: Sql,
    clientIds: readonly number[],
    { isOperator }: RecordedAccount,
    event: AccountEvent,
  ): Promise<void> {
    await recordForAccount(tx, clientIds, event);
    const { email: _, detail: __, ...report } = event;
    if (isOperator || clientIds.length === 0) this.#report(report);
  }

  /** Records a wrong password. The answer does not wait: it takes as long without an account. */
  refuse(account: RecordedAccount, { address, requestId }: SignInOrigin): void {
    if (!this.#isNew(account.id, networkOf(address))) return;
    const { id: accountId, email } = account;
    const action = 'member.sign-in-refused';
    const event = { action, accountId, email, address, requestId, detail: {} } as const;
    // The log of guesses has the address, whatever becomes of the entry.
    this.#refused.submit([account, event]).catch(() => this.#windows.delete(accountId));
  }

  /** All that was noted is written, or could not be. */
  drain(): Promise<void> {
    return this.#refused.drain();
  }

  #isNew(accountId: number, network: string): boolean {
    const nowMs = this.#now();
    const known = this.#windows.get(accountId);
    const isOpen = known !== undefined && nowMs < known.endsAtMs;
    const window = isOpen ? known : { endsAtMs: nowMs + WINDOW_MS, networks: new Set<string>() };
    if (!isOpen) this.#windows.set(accountId, window);
    const { networks } = window;
    if (networks.has(network) || networks.size >= NETWORKS_OF_ACCOUNT_MAX) return false;
    networks.add(network);
    return true;
  }
}
