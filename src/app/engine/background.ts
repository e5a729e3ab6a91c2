/** Puts together what works beside the requests: housekeeping, bulk operations, webhooks. */

import { BulkOperations } from '../../devices/bulk/bulk-operations.ts';
import { UNWRITTEN_MS_MAX } from '../../domain/device.ts';
import type { IndexFeed } from '../../tag-index/tag-index.ts';
import type { JobJournal } from '../../telemetry/job-journal.ts';
import type { Metric } from '../../telemetry/metric.ts';
import { WebhookDeliverer } from '../../webhooks/deliverer.ts';
import { createDeliveryCounter, waitingMetrics } from '../../webhooks/metrics.ts';
import { Housekeeping } from '../upkeep/housekeeping.ts';
import { objectIdMetric } from '../upkeep/object-id-metric.ts';
import { version } from '../version.ts';
import { createWebhookBacklog } from './backlog.ts';
import type { EngineParts } from './parts.ts';

const DAY_MS = 86_400_000;

interface Background {
  readonly housekeeping: Housekeeping;
  readonly metrics: readonly Metric[];
  start(): void;
  /** Resolves when what is under way has ended. */
  stop(): Promise<void>;
}

export function createBackground(
  { config, store, secrets, log }: EngineParts,
  feed: IndexFeed,
  journal: JobJournal,
): Background {
  const { sql } = store;
  const housekeeping = new Housekeeping({
    sql,
    feed,
    log,
    journal,
    // The latest registrations of a device may be unwritten.
    deviceRetentionMs: config.DEVICE_RETENTION_DAYS * DAY_MS + UNWRITTEN_MS_MAX,
    notificationRetentionDays: config.NOTIFICATION_RETENTION_DAYS,
    reachRetentionDays: config.REACH_RETENTION_DAYS,
  });
  const tagsPerDeviceMax = config.TAGS_PER_DEVICE_MAX;
  const bulkOperations = new BulkOperations({ sql, feed, log, tagsPerDeviceMax });
  const deliveries = createDeliveryCounter();
  const webhooks = new WebhookDeliverer({
    sql,
    secrets,
    log,
    agent: `Tagcast/${version()}`,
    isPrivateAllowed: config.WEBHOOK_PRIVATE_ADDRESSES,
    onAttempt: (outcome) => {
      deliveries.with({ outcome }).value += 1;
    },
  });
  const webhookBacklog = createWebhookBacklog(sql);
  return {
    housekeeping,
    metrics: [
      objectIdMetric(() => housekeeping.objectIdsUsedShare),
      deliveries,
      ...waitingMetrics(() => webhookBacklog.read()),
    ],
    start() {
      housekeeping.start();
      bulkOperations.start();
      webhooks.start();
    },
    async stop() {
      await Promise.all([housekeeping.stop(), bulkOperations.stop(), webhooks.stop()]);
    },
  };
}
