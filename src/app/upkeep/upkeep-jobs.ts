/** All periodic work on the database, in its order: what each run of housekeeping goes through. */

import type { Logger } from 'pino';
import { ENDED_LINKS, ENDED_SESSIONS } from '../../access/upkeep.ts';
import { auditLogs } from '../../audit/upkeep.ts';
import { expiredTags } from '../../catalogue/upkeep.ts';
import { clockWatch } from '../../database/maintenance/clock-watch.ts';
import type { ObjectIdWatch } from '../../database/maintenance/object-id-watch.ts';
import { DEAD_NODES } from '../../database/nodes/upkeep.ts';
import type { SqlPool } from '../../database/sql.ts';
import type { UpkeepJob } from '../../database/upkeep-job.ts';
import { Compaction } from '../../devices/compact/compaction.ts';
import { deletedNumbers } from '../../devices/deleted-numbers.ts';
import { unusedValues } from '../../devices/unused-values.ts';
import type { UnwantedTags } from '../../devices/unwanted-tags.ts';
import { BULK_OPERATIONS, deviceEvents, idleDeviceErasure } from '../../devices/upkeep.ts';
import { PROVIDER_TOKENS } from '../../provider-credentials/upkeep.ts';
import {
  CAP_PLACES,
  IDEMPOTENCY_KEYS,
  oldNotifications,
  oldReach,
  QUOTAS,
} from '../../push/upkeep.ts';
import {
  NOTIFICATION_DAYS,
  TAG_DAY_SLOTS,
  TAG_DAYS,
  UNCOUNTED_ENDS,
  UNLISTED_ENDS,
} from '../../statistics/upkeep.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import { webhookData } from '../../webhooks/upkeep.ts';
import { AppDeletions } from './app-deletions.ts';
import { clientDeletions } from './client-deletions.ts';

export interface UpkeepOptions {
  readonly sql: SqlPool;
  readonly feed: IndexFeed;
  readonly log: Logger;
  readonly journal: Pick<JobJournal, 'ended'>;
  readonly deviceRetentionMs: number;
  readonly notificationRetentionDays: number;
  readonly reachRetentionDays: number;
}

interface SharedJobs {
  readonly unwantedTags: UnwantedTags;
  readonly objectIdWatch: ObjectIdWatch;
}

/** `SharedJobs`: those that others ask, too. */
export const upkeepJobs = (
  options: UpkeepOptions,
  { unwantedTags, objectIdWatch }: SharedJobs,
): readonly UpkeepJob[] => [
  idleDeviceErasure(options.feed, options.deviceRetentionMs),
  unwantedTags.deleted,
  IDEMPOTENCY_KEYS,
  BULK_OPERATIONS,
  DEAD_NODES,
  // Before notifications are deleted: those that no day counts yet stay.
  UNLISTED_ENDS,
  UNCOUNTED_ENDS,
  // Before moves of devices are deleted: they stay as long as places that they concern.
  CAP_PLACES,
  // Before notifications are deleted: their reach goes in pieces.
  oldReach(options),
  oldNotifications(options.notificationRetentionDays),
  clockWatch(options.log),
  expiredTags(options.log),
  new AppDeletions(options.feed),
  clientDeletions(options.journal),
  new Compaction(options),
  auditLogs(),
  deviceEvents(),
  webhookData(),
  unwantedTags.disconnected,
  unwantedTags.disconnectedHere,
  unusedValues(options.feed),
  deletedNumbers(),
  // No index finds the rows of these: they are looked for once an hour.
  objectIdWatch,
  TAG_DAY_SLOTS,
  TAG_DAYS,
  NOTIFICATION_DAYS,
  PROVIDER_TOKENS,
  QUOTAS,
  ENDED_SESSIONS,
  ENDED_LINKS,
];
