/** Whether all nodes can send what only this version and later ones know. */

import * as segments from '../../database/migrations/0049-segments.ts';
import * as registeredOn from '../../database/migrations/0050-registered-on.ts';
import * as numbers from '../../database/migrations/0052-numbers.ts';
import * as retried from '../../database/migrations/0054-retries.ts';
import * as corrected from '../../database/migrations/0055-corrections.ts';
import * as waved from '../../database/migrations/0057-waves.ts';
import { needMigration } from '../../database/nodes/need-migration.ts';
import type { Sql } from '../../database/sql.ts';
import type { AskedTest } from '../../domain/asked-audience.ts';
import { askedTestsOf, isPlain } from '../../domain/asked-audience.ts';
import { isNumberType } from '../../domain/device-numbers.ts';
import { isInLanguagesOfAttribute } from '../../domain/notification.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';

export class KnownToAll {
  readonly #sql: Sql;
  /** The migrations that they know: from then on no node without them can start. */
  readonly #known = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The nodes that would send it to others than it is for, in words; null: none. */
  async nodesBehind(notification: Asked): Promise<string | null> {
    const needed = neededBy(notification);
    if (needed === null || this.#known.has(needed)) return null;
    const behind = await needMigration(this.#sql, needed);
    if (behind === null) this.#known.add(needed);
    return behind;
  }
}

type Asked = Pick<
  NewNotification,
  'audience' | 'payload' | 'templated' | 'retries' | 'correction' | 'waves'
>;

/** Null: every node knows what it asks. */
function neededBy(asked: Asked): string | null {
  const { audience, payload, templated, retries, correction, waves } = asked;
  if (waves !== undefined) return waved.name;
  if (correction !== undefined) return corrected.name;
  if (retries !== undefined) return retried.name;
  const tests = askedTestsOf(audience);
  if (tests.some(isOfNumbers)) return numbers.name;
  const payloads = [payload, ...Object.values(templated?.payloads ?? {})];
  if (payloads.some(isInLanguagesOfAttribute)) return registeredOn.name;
  if (tests.some(({ type }) => type === 'time')) return registeredOn.name;
  return isPlain(audience) && audience.isToEverybody !== true ? null : segments.name;
}

const isOfNumbers = ({ subject, type }: AskedTest): boolean =>
  typeof subject === 'number' && isNumberType(type);
