/** Finds tables with outdated statistics, and tables with too many dead rows. */

import type { Sql } from '../sql.ts';

export interface StaleTable {
  readonly name: string;
  readonly wantsAnalyze: boolean;
  readonly wantsVacuum: boolean;
}

/**
 * `neverAnalyzed`: only tables that were never analyzed. A table needs ANALYZE after changes to 50
 * rows and a fifth of the rows (PostgreSQL's autovacuum: 50 and a tenth), VACUUM at 1,000 dead rows
 * and a fifth of the rows (autovacuum: 50 and a fifth).
 */
export const staleTables = (
  sql: Sql,
  { neverAnalyzed }: { readonly neverAnalyzed: boolean },
) => sql<StaleTable[]>`
  select name, "wantsAnalyze", "wantsVacuum" from (
    select quote_ident(relname) as name,
      n_mod_since_analyze > 50 + n_live_tup / 5 as "wantsAnalyze",
      n_dead_tup > 1000 + n_live_tup / 5 as "wantsVacuum",
      last_analyze is null and last_autoanalyze is null as "isNew"
    from pg_stat_user_tables
    where schemaname = current_schema()
  ) as tables
  where ("wantsAnalyze" or "wantsVacuum") and ("isNew" or not ${neverAnalyzed})`;
