/**
 * Which times of a provider token count. A clock that was ahead has left times in the future, and
 * none of them may hold a token back for longer than it could have been meant.
 */

import type { Fragment, Sql } from '../../database/sql.ts';

/**
 * Longer than TOKEN_REQUEST_TIMEOUT_MS. When its node dies, another need not wait for its end.
 * @limit right of a node to make a token → another node may
 */
export const MINTING_MS_MAX = 20_000;
/**
 * The longest freeze and the longest rest after a failure (providers/).
 * @limit a freeze of a provider's token that is believed, from now → a time further off was written
 * by a clock that was ahead, and counts as none
 */
const FREEZE_MS_MAX = 20 * 60_000;
/**
 * @limit a failure of a provider's token that is believed, from now → a time further off counts as
 * none
 */
const FAILURE_MS_MAX = 10_000;

/** A condition on the row `t`: a token that was made later than now counts as none. */
export const isTimely = (sql: Sql, now: Fragment) => sql`coalesce(t.minted_at <= ${now}, false)`;

/** When the next token of row `t` may be made. Null: at once. `minting`: the present right. */
export const mintableAt = (sql: Sql, now: Fragment, apartMs: number, minting: Fragment) => sql`
  greatest(
    case when ${isTimely(sql, now)} then t.minted_at + make_interval(secs => ${apartMs}::float8 / 1000) end,
    ${minting},
    ${within(sql, now, sql`t.frozen_until`, FREEZE_MS_MAX)},
    ${failsUntil(sql, now)}
  )`;

/** Until when all nodes answer for row `t` with the last failure. */
export const failsUntil = (sql: Sql, now: Fragment) =>
  within(sql, now, sql`t.retry_at`, FAILURE_MS_MAX);

/** A time that is further away than `maxMs` was written by a clock that was ahead. */
export const within = (sql: Sql, now: Fragment, time: Fragment, maxMs: number) => sql`
  case when ${time} <= ${now} + make_interval(secs => ${maxMs}::float8 / 1000) then ${time} end`;
