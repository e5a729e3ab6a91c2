/** Finds tables with outdated statistics, and tables with too many dead rows. */

import type { Sql } from '../sql.ts';

interface StaleTable {
  readonly name: string;
  readonly wantsAnalyze: boolean;
  readonly wantsVacuum: boolean;
}

/** Whatever the plan, going through so few rows costs nothing. */
const FEW_ROWS = 50;

/**
 * `isNewOnly`: only tables never analyzed, or ten times as large since: a plan for an empty table
 * is ruinous for a thousand rows. The thresholds are near those of autovacuum.
 */
export const staleTables = (sql: Sql, { isNewOnly }: { readonly isNewOnly: boolean }) => sql<
  StaleTable[]
>`
  select name, "wantsAnalyze", "wantsVacuum" from (
    select quote_ident(t.relname) as name,
      n_mod_since_analyze > 50 + n_live_tup / 5 as "wantsAnalyze",
      n_dead_tup > 1000 + n_live_tup / 5 as "wantsVacuum",
      (last_analyze is null and last_autoanalyze is null)
        or n_live_tup > 10 * greatest(c.reltuples, ${FEW_ROWS}::integer) as "isNew"
    from pg_stat_user_tables t join pg_class c on c.oid = t.relid
    where schemaname = current_schema()
  ) as tables
  where ("wantsAnalyze" or "wantsVacuum") and ("isNew" or not ${isNewOnly})`;
