/**
 * Databases that tests use one after another: opening one costs more than most tests. Each test
 * gets an empty one, and its rows are deleted after it. A further one is opened only when all are
 * in use.
 */

import type { EmbeddedDatabase } from '../../src/store/embedded/thread.ts';
import type { DatabaseAddress } from '../../src/store/sql.ts';
import { connect } from '../../src/store/sql.ts';
import { emptyDatabase, filledTables } from './empty-database.ts';
import { checkAfterFiles, keptOpen } from './shared.ts';

/** A migrated database. */
export interface PooledDatabase {
  readonly address: DatabaseAddress;
  /** The thread of an embedded one, which a store does not close. */
  readonly database?: EmbeddedDatabase;
}

export class DatabasePool {
  readonly #idle: PooledDatabase[] = [];
  readonly #open: () => Promise<PooledDatabase>;

  constructor(open: () => Promise<PooledDatabase>) {
    this.#open = open;
    checkAfterFiles(() => this.#filledIdle());
  }

  async take(): Promise<PooledDatabase> {
    return this.#idle.pop() ?? (await keptOpen(this.#open));
  }

  /** Empties it first. Stores on it have been closed. */
  async giveBack(database: PooledDatabase): Promise<void> {
    const sql = connect(database.address, 1);
    try {
      await emptyDatabase(sql);
    } finally {
      await sql.end();
    }
    this.#idle.push(database);
  }

  /** The tables with rows in databases that nobody uses: something has outlived its test. */
  async #filledIdle(): Promise<readonly string[]> {
    const filled: string[] = [];
    for (const { address } of this.#idle) {
      const sql = connect(address, 1);
      for (const table of await filledTables(sql)) filled.push(`rows of ${table}`);
      await sql.end();
    }
    return filled;
  }
}
