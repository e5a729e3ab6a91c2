/** Deletes tags a day after they have expired. */

import type { Logger } from 'pino';
import { recordChange } from '../audit/record-change.ts';
import { lockClient, raiseCatalogueVersion } from '../clients/lock-client.ts';
import type { SqlPool } from '../database/sql.ts';
import { transact } from '../database/transact.ts';
import type { AuditOrigin } from '../domain/audit.ts';
import { clientsOfExpiredTags, deleteExpiredTags } from './sql/expired-tags.ts';

/**
 * Until then the tag still excludes devices from pushes, and a later expiration brings it back. The
 * public service removes expired tags once a day.
 * @limit an expired tag is kept after its expiration, and after it was made → deleted, as by
 * `tag/delete`
 */
const EXPIRED_TAG_MS = 86_400_000;
/**
 * Tags of a client that one run deletes, in a transaction that holds the client's lock: with a run
 * every ten seconds four million a day. The audit log names them in one entry.
 * @limit expired tags of a client that a run of housekeeping deletes → the next run
 */
const TAGS_MAX = 500;
/**
 * Clients that one run serves. The next run goes on with the next ones.
 * @limit clients whose expired tags are deleted in a run of housekeeping → the next run
 */
const CLIENTS_MAX = 20;

interface ExpiredTagsOptions {
  readonly sql: SqlPool;
  readonly log: Logger;
}

export class ExpiredTags {
  private readonly options: ExpiredTagsOptions;
  /** The last client that was served; all those up to it take their next turn after the others. */
  private afterId = 0;

  constructor(options: ExpiredTagsOptions) {
    this.options = options;
  }

  /** Runs once; the clients take turns. `nowMs`: by the database's clock. */
  async run(nowMs: number): Promise<void> {
    const expiredBeforeMs = nowMs - EXPIRED_TAG_MS;
    const look = { afterId: this.afterId, limit: CLIENTS_MAX };
    const clientIds = await clientsOfExpiredTags(this.options.sql, expiredBeforeMs, look);
    for (const clientId of clientIds) {
      // Also if this fails: one client does not keep the others waiting.
      this.afterId = clientId;
      await this.deleteOf(clientId, expiredBeforeMs);
    }
    if (clientIds.length < CLIENTS_MAX) this.afterId = 0;
  }

  private async deleteOf(clientId: number, expiredBeforeMs: number): Promise<void> {
    const { sql, log } = this.options;
    const deleted = await transact(sql, async (tx) => {
      await lockClient(tx, clientId);
      const tagIds = await deleteExpiredTags(tx, clientId, expiredBeforeMs, TAGS_MAX);
      if (tagIds.length === 0) return 0;
      await raiseCatalogueVersion(tx, clientId);
      await recordChange(tx, byEngine(clientId), changeOf(tagIds));
      return tagIds.length;
    });
    if (deleted > 0) log.info({ clientId, tags: deleted }, 'deleted expired tags');
  }
}

const byEngine = (clientId: number): AuditOrigin => ({
  clientId,
  actor: { kind: 'engine' },
  address: null,
  requestId: null,
});

/** One entry for all of them: a client's log must not fill with what nobody did. */
const changeOf = (tagIds: readonly number[]) =>
  ({
    action: 'tags.expire',
    id: null,
    name: null,
    detail: { tags: tagIds.length, tagIds: tagIds.map(String) },
  }) as const;
