/**
 * Databases that tests use one after another: opening one costs more than most tests. Each test
 * gets an empty one, and its rows are deleted after it. A further one is opened only when all are
 * in use.
 */

import type { EmbeddedDatabase } from '../../src/database/embedded/thread.ts';
import type { DatabaseAddress, SqlPool } from '../../src/database/sql.ts';
import { connect } from '../../src/database/sql.ts';
import { emptyDatabase, filledTables, schemaMark } from './empty-database.ts';
import { checkAfterFiles, keptOpen } from './shared.ts';

/** A migrated database. */
export interface PooledDatabase {
  readonly address: DatabaseAddress;
  /** The thread of an embedded one, which a store does not close. */
  readonly database?: EmbeddedDatabase;
  /** Called instead of using it again. */
  discard(): Promise<unknown>;
}

export class DatabasePool {
  readonly #idle: PooledDatabase[] = [];
  readonly #marks = new Map<PooledDatabase, string>();
  readonly #open: () => Promise<PooledDatabase>;

  constructor(open: () => Promise<PooledDatabase>) {
    this.#open = open;
    checkAfterFiles(() => this.#filledIdle());
  }

  async take(): Promise<PooledDatabase> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const pooled = await keptOpen(this.#open);
    this.#marks.set(pooled, await withConnection(pooled, schemaMark));
    return pooled;
  }

  /** Empties it first. Stores on it have been closed. One whose schema was changed is not kept. */
  async giveBack(pooled: PooledDatabase): Promise<void> {
    const mark = await withConnection(pooled, async (sql) => {
      await emptyDatabase(sql);
      return schemaMark(sql);
    });
    if (mark === this.#marks.get(pooled)) this.#idle.push(pooled);
    else await pooled.discard();
  }

  /** The tables with rows in databases that are not in use: something has outlived its test. */
  async #filledIdle(): Promise<readonly string[]> {
    const filled: string[] = [];
    for (const pooled of this.#idle) {
      const tables = await withConnection(pooled, filledTables);
      filled.push(...tables.map((table) => `rows of ${table}`));
    }
    return filled;
  }
}

async function withConnection<T>(
  { address }: PooledDatabase,
  ask: (sql: SqlPool) => Promise<T>,
): Promise<T> {
  const sql = connect(address, 1);
  try {
    return await ask(sql);
  } finally {
    await sql.end();
  }
}
