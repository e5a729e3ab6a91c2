/** Metrics of webhooks: what waits to be told, of all clients and nodes. */

import type { Registry } from 'prom-client';
import { readGauge } from './read-metrics.ts';

/** Counted up to a bound. */
export interface WaitingWebhooksReading {
  readonly events: number;
  readonly pendingDeliveries: number;
  readonly oldestSeconds: number;
}

export function registerWebhookMetrics(
  registry: Registry,
  read: () => WaitingWebhooksReading | null,
): void {
  const gauge = (
    name: string,
    help: string,
    valueIn: (reading: WaitingWebhooksReading) => number,
  ): void =>
    readGauge(registry, { name, help }, () => {
      const reading = read();
      return reading === null ? [] : [[{}, valueIn(reading)]];
    });
  gauge(
    'tagcast_webhook_events_waiting',
    'Events that no webhook delivery has taken yet, of all clients. This and the next two are counted as the backlog is.',
    ({ events }) => events,
  );
  gauge(
    'tagcast_webhook_deliveries_pending',
    'Webhook deliveries that are tried again.',
    ({ pendingDeliveries }) => pendingDeliveries,
  );
  gauge(
    'tagcast_webhook_oldest_seconds',
    'Age of the oldest event or delivery that a webhook has not been told.',
    ({ oldestSeconds }) => oldestSeconds,
  );
}
