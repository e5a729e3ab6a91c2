/** Whether all nodes can send what only this version and later ones know. */

import * as segments from '../../database/migrations/0049-segments.ts';
import { needMigration } from '../../database/nodes/need-migration.ts';
import type { Sql } from '../../database/sql.ts';
import { isPlain } from '../../domain/asked-audience.ts';
import { isInLanguagesOfAttribute } from '../../domain/notification.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';

export class KnownToAll {
  readonly #sql: Sql;
  /** Once they do, no other node can start. */
  #isKnown = false;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The nodes that would send it to others than it is for, in words; null: none. */
  async nodesBehind(notification: Asked): Promise<string | null> {
    if (this.#isKnown || !isNew(notification)) return null;
    const behind = await needMigration(this.#sql, segments.name);
    this.#isKnown = behind === null;
    return behind;
  }
}

type Asked = Pick<NewNotification, 'audience' | 'payload' | 'templated'>;

/** It is to everybody, or asks for attributes: in its audience, or for the language of a device. */
const isNew = ({ audience, payload, templated }: Asked): boolean =>
  audience.isToEverybody === true ||
  !isPlain(audience) ||
  [payload, ...Object.values(templated?.payloads ?? {})].some(isInLanguagesOfAttribute);
