/**
 * Proves by writes that the database takes writes: a row tests the log, new room tests the disk.
 * And asks whether a later version has changed it since.
 */

import { errorReason } from '../../packages/std/src/error-reason.ts';
import { within } from '../std/within.ts';
import type { Applied } from './migrate.ts';
import { whyTooNew } from './migrate.ts';
import type { DatabaseAddress, SqlPool } from './sql.ts';
import { CLOSE_TIMEOUT_SECONDS, connect } from './sql.ts';

/**
 * `cannot write`: it answers, and reads may go on. `too new`: a later version has taken away what
 * this one uses.
 */
export const STORE_STATES = ['ok', 'cannot write', 'too new', 'unavailable'] as const;
export type StoreState = (typeof STORE_STATES)[number];

export interface StoreReading {
  readonly state: StoreState;
  /** Why it is not `ok`. */
  readonly reason: string | null;
}

/** @limit `/readyz` waits for the database → `503` */
const PROBE_MS_MAX = 2_000;
/**
 * Less than PROBE_MS_MAX, so that the database ends a waiting statement itself.
 * @limit each statement of `/readyz` → `503`
 */
const STATEMENT_MS_MAX = 1_500;
/**
 * A registration needs a few pages, in several files: a mebibyte in all.
 * @limit pages of 8 KiB that `/readyz` writes to a temporary file
 */
const ROOM_PAGES = 128;

/**
 * One round trip and transaction. Rows beyond `work_mem` go to a file in the database's tablespace:
 * that needs no right and no table, and leaves nothing to vacuum.
 */
const PROBE = `
  set local statement_timeout = ${STATEMENT_MS_MAX};
  set local work_mem = '64kB';
  set local temp_tablespaces = '';
  with room as materialized (select repeat('x', 8192) from generate_series(1, ${ROOM_PAGES}))
    select count(*) from room;
  insert into write_probe (id, written_at) values (1, now())
    on conflict (id) do update set written_at = excluded.written_at;
  select name, needs from migrations where needs is not null`;

/** The connection, the sign-in, or a database that is missing, starts, stops or is full. */
const NOT_REACHED = /^(08|28|3D|57P|53300)/;
const SQLSTATE = /^[0-9A-Z]{5}$/;

const OK: StoreReading = { state: 'ok', reason: null };
const LATE: StoreReading = {
  state: 'unavailable',
  reason: `no answer within ${PROBE_MS_MAX} ms`,
};

/** Callers must ask one at a time. */
export class WriteProbe {
  readonly #address: DatabaseAddress;
  /** Its own: it waits for no user of the others, and can be discarded when it hangs. */
  #sql: SqlPool | null = null;

  constructor(address: DatabaseAddress) {
    this.#address = address;
  }

  /** Answers within `PROBE_MS_MAX`, whatever the database does. */
  async ask(): Promise<StoreReading> {
    this.#sql ??= connect(this.#address, 1);
    const sql = this.#sql;
    const asked = sql.unsafe(PROBE).simple().then(readingOfAnswer, readingOfError);
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

/** The answers of all statements; the last one is about the migrations. */
function readingOfAnswer(answers: unknown): StoreReading {
  const reason = whyTooNew((answers as readonly (readonly Applied[])[]).at(-1) ?? []);
  return reason === null ? OK : { state: 'too new', reason };
}

function readingOfError(error: unknown): StoreReading {
  const reason = error instanceof Error ? error.message : String(error);
  const code = errorReason(error);
  const isRefused = SQLSTATE.test(code) && !NOT_REACHED.test(code);
  return { state: isRefused ? 'cannot write' : 'unavailable', reason };
}
