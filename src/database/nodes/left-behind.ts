/** Refuses a migration that nodes at work could not go on after. */

import { SettingFault } from '../../std/setting-fault.ts';
import type { Sql } from '../sql.ts';
import { AT_WORK, nodesInWords, SILENT_SECONDS } from './at-work.ts';

interface NodeAtWork {
  readonly host: string;
  readonly pid: number;
  /** The newest migration that it knows; null: it is older than this record. */
  readonly newest: string | null;
}

/** `needs`: the migrations that a node must know from now on. */
export async function requireNoneLeftBehind(tx: Sql, needs: readonly string[]): Promise<void> {
  const newest = [...needs].sort().at(-1);
  if (newest === undefined) return;
  // Read through JSON: the column may be one of those that are missing.
  const nodes = await tx<NodeAtWork[]>`
    select host, pid, to_jsonb(n) ->> 'newest_migration' as newest
    from nodes n where ${tx.unsafe(AT_WORK)} order by id`;
  const behind = nodes.filter((node) => node.newest === null || node.newest < newest);
  if (behind.length === 0) return;
  throw new SettingFault(
    `DATABASE_URL: nodes of an earlier version are at work (${nodesInWords(behind)}), and could not go on after this version's migrations, which need ${newest}. Stop them first, or wait ${SILENT_SECONDS} seconds if they were killed. An engine with MIGRATE_BESIDE_OLD_NODES=1 migrates all the same: those answer 503 from then on, and /readyz says so.`,
  );
}
