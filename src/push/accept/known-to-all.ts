/** Whether all nodes can send what only this version and later ones know. */

import * as segments from '../../database/migrations/0049-segments.ts';
import * as registeredOn from '../../database/migrations/0050-registered-on.ts';
import { needMigration } from '../../database/nodes/need-migration.ts';
import type { Sql } from '../../database/sql.ts';
import type { AskedAudience } from '../../domain/asked-audience.ts';
import { askedTestsOf, isPlain } from '../../domain/asked-audience.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';

export class KnownToAll {
  readonly #sql: Sql;
  /** The migrations that they know: from then on no node without them can start. */
  readonly #known = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The nodes that would send it to others than it is for, in words; null: none. */
  async nodesBehind({ audience }: Pick<NewNotification, 'audience'>): Promise<string | null> {
    const needed = neededBy(audience);
    if (needed === null || this.#known.has(needed)) return null;
    const behind = await needMigration(this.#sql, needed);
    if (behind === null) this.#known.add(needed);
    return behind;
  }
}

/** Null: every node knows what it asks. */
function neededBy(audience: AskedAudience): string | null {
  if (askedTestsOf(audience).some(({ type }) => type === 'time')) return registeredOn.name;
  return isPlain(audience) && audience.isToEverybody !== true ? null : segments.name;
}
