/**
 * Whether the database takes writes, proven by a write: a committed one, for its log, and one that
 * asks the disk for room. A row that is written again lies in a page that is there already, and a
 * full disk would not show.
 */

import { errorReason } from '../../std/error-reason.ts';
import { within } from '../../std/within.ts';
import type { DatabaseAddress, SqlPool } from '../sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from '../sql.ts';

/** `cannot write`: it answers, and reading may go on. */
export type StoreState = 'ok' | 'cannot write' | 'unavailable';

export interface StoreReading {
  readonly state: StoreState;
  /** Why it is not `ok`. */
  readonly reason: string | null;
}

/** A database that takes longer than this for a row cannot serve. */
const PROBE_MS_MAX = 2_000;
/** Less, so that a database that waits (for a lock) says so itself, and leaves nothing behind. */
const STATEMENT_MS_MAX = 1_500;
/** A registration wants a few pages, in several files: a mebibyte in all. */
const ROOM_PAGES = 128;

/**
 * One message, so one round trip and one transaction. What does not fit into `work_mem` goes to a
 * file in the database's own place, which is written and deleted at once: it needs no right and no
 * table, and leaves nothing to vacuum.
 */
const PROBE = `
  set local statement_timeout = ${STATEMENT_MS_MAX};
  set local work_mem = '64kB';
  set local temp_tablespaces = '';
  with room as materialized (select repeat('x', 8192) from generate_series(1, ${ROOM_PAGES}))
    select count(*) from room;
  insert into write_probe (id, written_at) values (1, now())
    on conflict (id) do update set written_at = excluded.written_at`;

/**
 * Of the connection, the sign-in, a database that is missing, one that starts or stops, or has no
 * more connections.
 */
const NOT_REACHED = /^(08|28|3D|57P|53300)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

const OK: StoreReading = { state: 'ok', reason: null };
const LATE: StoreReading = {
  state: 'unavailable',
  reason: `no answer within ${PROBE_MS_MAX} ms`,
};

/** One at a time: whoever asks sees to that. */
export class WriteProbe {
  readonly #address: DatabaseAddress;
  /**
   * Of its own: it is not to wait for whoever has the others, and can be thrown away when it hangs.
   */
  #sql: SqlPool | null = null;

  constructor(address: DatabaseAddress) {
    this.#address = address;
  }

  /** Answers within `PROBE_MS_MAX`, whatever the database does. */
  async ask(): Promise<StoreReading> {
    this.#sql ??= connect(this.#address, 1);
    const sql = this.#sql;
    const asked = sql
      .unsafe(PROBE)
      .simple()
      .then(() => OK, readingOf);
    const reading = await within(PROBE_MS_MAX, asked, LATE);
    if (reading === LATE) {
      // A connection that hangs may do so for a quarter of an hour after the database is back.
      this.#sql = null;
      await sql.end({ timeout: 0 });
    }
    return reading;
  }

  async close(): Promise<void> {
    await this.#sql?.end({ timeout: CLOSE_TIMEOUT_SECONDS });
  }
}

function readingOf(error: unknown): StoreReading {
  const reason = error instanceof Error ? error.message : String(error);
  const code = errorReason(error);
  const isRefused = SQLSTATE.test(code) && !NOT_REACHED.test(code);
  return { state: isRefused ? 'cannot write' : 'unavailable', reason };
}
