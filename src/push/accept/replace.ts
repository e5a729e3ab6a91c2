/** Puts a push in the place of a job that has not begun, in one transaction. */

import type { PlatformId } from '../../../packages/std/src/platforms.ts';
import type { Sql, SqlPool } from '../../database/sql.ts';
import { transact } from '../../database/transact.ts';
import type { NotificationState } from '../../domain/notification.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { EndedNotification } from '../sql/ledger/advance-notifications.ts';
import { cancelUnbegun, changeState } from '../sql/ledger/change-state.ts';
import { findByIdempotencyKeys } from '../sql/notifications/find-by-idempotency-keys.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';
import { insertNotifications } from '../sql/notifications/insert-notifications.ts';
import { hasPolicy, setPolicies } from '../sql/notifications/set-policies.ts';
import type { Acceptance } from './acceptance.ts';
import { announce, recalled } from './acceptance.ts';
import type { Checked } from './check.ts';
import { checkOne } from './check-one.ts';
import type { ContentParts } from './contents.ts';
import type { KnownToAll } from './known-to-all.ts';
import type { Publisher } from './new-notification.ts';
import { newNotification } from './new-notification.ts';
import type { Push, PushFault } from './push.ts';

/** The job that is replaced. */
export interface Replaced {
  readonly id: string;
  /** A limited key replaces its own only. Null: any of the client. */
  readonly publisher: string | null;
  /** Holds the client's row, before anything else is locked. */
  readonly hold: (tx: Sql) => Promise<void>;
  /** Records the change in its transaction. */
  readonly record: (tx: Sql, replacedBy: string) => Promise<void>;
}

/** Nothing was changed unless it is `accepted`. */
export type Replacement =
  | Acceptance
  | { readonly kind: 'begun'; readonly state: NotificationState }
  /** It is a retry: the push would go to those too whom that leaves out. */
  | { readonly kind: 'retry' }
  /** The client has no such job, or it is another publisher's. */
  | { readonly kind: 'unknown' };

interface ReplaceParts extends ContentParts {
  readonly sql: SqlPool;
  readonly isSimulated: (platformId: PlatformId) => boolean;
  readonly journal: Pick<JobJournal, 'accepted' | 'ended'>;
  readonly knownToAll: Pick<KnownToAll, 'nodesBehind'>;
  readonly onAccepted: () => void;
}

interface Asked {
  readonly push: Push;
  readonly publisher: Publisher;
  readonly knownFaults: readonly PushFault[];
  readonly before: Replaced;
}

/** A repeated request, by its idempotency key, is answered with the job that the first one made. */
export async function replaceUnbegun(parts: ReplaceParts, asked: Asked): Promise<Replacement> {
  const { push, publisher, knownFaults, before } = asked;
  const startedMs = Date.now();
  const checked = await checkOne(parts, publisher.clientId, push, knownFaults);
  const earlier = await earlierAnswer(parts.sql, publisher, checked);
  if (earlier !== null) return earlier;
  if (checked.kind !== 'fit') return checked;
  const notification = newNotification({ push, publisher }, checked, parts.isSimulated);
  const nodes = await parts.knownToAll.nodesBehind(notification);
  if (nodes !== null) return { kind: 'nodes-behind', nodes };
  const swapped = await swap(parts.sql, notification, before);
  if (swapped.kind !== 'swapped') {
    // The same request may have been faster on another connection.
    return (await earlierAnswer(parts.sql, publisher, checked)) ?? swapped;
  }
  const { state, ended } = swapped;
  parts.journal.ended(ended);
  const written = { notification, publisher, targets: checked.targets, startedMs };
  const acceptance = announce(parts.journal, written, state);
  if (state === 'QUEUED') parts.onAccepted();
  return acceptance;
}

type Swapped =
  | Exclude<Replacement, Acceptance>
  | { readonly kind: 'key-reused' }
  | {
      readonly kind: 'swapped';
      readonly state: NotificationState;
      readonly ended: readonly EndedNotification[];
    };

/** One that was paused stays so, until somebody resumes it. */
async function swap(sql: SqlPool, after: NewNotification, before: Replaced): Promise<Swapped> {
  const { clientId } = after;
  try {
    return await transact(sql, async (tx) => {
      await before.hold(tx);
      const cancelled = await cancelUnbegun(tx, clientId, before.id, before.publisher);
      if (cancelled === null) return { kind: 'unknown' };
      if (cancelled.isRetry) return { kind: 'retry' };
      if (!cancelled.isObeyed) return { kind: 'begun', state: cancelled.state };
      const [accepted] = await insertNotifications(tx, [after]);
      if (accepted === undefined) throw new KeyTaken();
      if (hasPolicy(after)) await setPolicies(tx, [after]);
      const isPaused = cancelled.state === 'PAUSED';
      if (isPaused) await changeState(tx, clientId, after.id, null, 'pause');
      await before.record(tx, after.id);
      const state = isPaused ? cancelled.state : accepted.state;
      return { kind: 'swapped', state, ended: cancelled.ended };
    });
  } catch (error) {
    if (error instanceof KeyTaken) return { kind: 'key-reused' };
    throw error;
  }
}

/** Another request has written the idempotency key meanwhile: nothing is changed for this one. */
class KeyTaken extends Error {}

/**
 * The answer to an earlier request with the same idempotency key; null: there is none. `checked`:
 * null: what it names is not looked up.
 */
export async function earlierAnswer(
  sql: Sql,
  publisher: Publisher,
  checked: Checked | null,
): Promise<Acceptance | null> {
  const { clientId, userName, idempotency } = publisher;
  if (idempotency === null) return null;
  const [known] = await findByIdempotencyKeys(sql, clientId, [{ key: idempotency.key, userName }]);
  const targets = checked?.kind === 'fit' ? checked.targets : null;
  return known === undefined ? null : recalled(publisher, known, targets);
}
