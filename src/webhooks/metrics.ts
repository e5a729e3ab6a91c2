/** Metrics of webhooks: attempts, and events that wait, of all clients and nodes. */

import { LabelledCounter } from '../telemetry/labelled-counter.ts';
import type { Metric } from '../telemetry/metric.ts';
import { known } from '../telemetry/metric.ts';
import { DELIVERY_OUTCOMES } from './deliverer.ts';
import type { WaitingWebhooks } from './sql/read-waiting.ts';

/** A counter of requests; each of its series is there before the first request. */
export function createDeliveryCounter(): LabelledCounter<'outcome'> {
  const counter = new LabelledCounter({
    name: 'tagcast_webhook_deliveries_total',
    help: 'Requests of this node to webhooks: `delivered`, `failed` (tried again) or `dead` (given up).',
    labels: ['outcome'],
  });
  for (const outcome of DELIVERY_OUTCOMES) counter.with({ outcome });
  return counter;
}

/** `read`: null while it is not known. */
export const waitingMetrics = (read: () => WaitingWebhooks | null): readonly Metric[] => [
  {
    type: 'gauge',
    name: 'tagcast_webhook_events_waiting',
    help: 'Events that no webhook delivery has taken yet, of all clients. This and the next two are counted as the backlog is.',
    read: () => known(read()?.events ?? null),
  },
  {
    type: 'gauge',
    name: 'tagcast_webhook_deliveries_pending',
    help: 'Webhook deliveries that are tried again.',
    read: () => known(read()?.pendingDeliveries ?? null),
  },
  {
    type: 'gauge',
    name: 'tagcast_webhook_oldest_seconds',
    help: 'Age of the oldest event or delivery that a webhook has not received.',
    read: () => known(read()?.oldestSeconds ?? null),
  },
];
