/** Deletes tags a day after they have expired. */

import type { Logger } from 'pino';
import { recordChange } from '../audit/record-change.ts';
import { lockClient, raiseCatalogueVersion } from '../clients/lock-client.ts';
import { transact } from '../database/transact.ts';
import type { UpkeepJob, UpkeepRun } from '../database/upkeep-job.ts';
import { inTurn } from '../database/upkeep-job.ts';
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
 * Under the client's lock; four million a day. The audit log names them in one entry.
 * @limit expired tags of a client that a run of housekeeping deletes → the next run
 */
const TAGS_MAX = 500;
/**
 * Clients that one run serves, in a transaction each. The next run goes on with the next ones.
 * @limit clients whose expired tags are deleted in a run of housekeeping → the next run
 */
const CLIENTS_MAX = 20;

export function expiredTags(log: Logger): UpkeepJob {
  const serve = async ({ sql, nowMs, budget }: UpkeepRun, clientId: number): Promise<boolean> => {
    if (!budget.take()) return false;
    const deleted = await transact(sql, async (tx) => {
      await lockClient(tx, clientId);
      const tagIds = await deleteExpiredTags(tx, clientId, nowMs - EXPIRED_TAG_MS, TAGS_MAX);
      if (tagIds.length === 0) return 0;
      await raiseCatalogueVersion(tx, clientId);
      await recordChange(tx, byEngine(clientId), changeOf(tagIds));
      return tagIds.length;
    });
    if (deleted > 0) log.info({ clientId, tags: deleted }, 'deleted expired tags');
    return deleted < TAGS_MAX;
  };
  return {
    name: 'expired tags',
    transactionsMax: CLIENTS_MAX,
    run: inTurn<number>({
      start: 0,
      ownersMax: CLIENTS_MAX,
      unfinished: 'last',
      next: ({ sql, nowMs }, afterId, limit) =>
        clientsOfExpiredTags(sql, nowMs - EXPIRED_TAG_MS, { afterId, limit }),
      serve,
    }),
  };
}

const byEngine = (clientId: number): AuditOrigin => ({
  clientId,
  actor: { kind: 'engine' },
  address: null,
  requestId: null,
});

/** One entry for all of them: changes that no person made must not fill a client's log. */
const changeOf = (tagIds: readonly number[]) =>
  ({
    action: 'tags.expire',
    id: null,
    name: null,
    detail: { tags: tagIds.length, tagIds: tagIds.map(String) },
  }) as const;
