/** The server's own metrics. */

import type { CrowdReading } from '../../packages/http1/src/front.ts';
import type { Front } from '../http/choose-front.ts';
import { LabelledCounter } from '../telemetry/labelled-counter.ts';
import type { Metric } from '../telemetry/metric.ts';
import { known } from '../telemetry/metric.ts';

export class RequestCounts {
  readonly requests = new LabelledCounter({
    name: 'tagcast_http_requests_total',
    help: 'Requests answered. The route of a path that none matches is `unmatched`.',
    labels: ['method', 'route', 'status'],
  });
  readonly overloads = new LabelledCounter({
    name: 'tagcast_overloads_total',
    help: 'Requests refused because too much was under way: requests of the server (`http`), their bodies (`bodies`), or registrations waiting for their commit (`registrations`).',
    labels: ['part'],
  });
  readonly limitRefusals = new LabelledCounter({
    name: 'tagcast_limit_refusals_total',
    help: 'Requests refused with 429 or 403 because their client is at a limit, or their address at `REGISTRATIONS_PER_SECOND_MAX`.',
    labels: ['limit'],
  });

  get metrics(): readonly Metric[] {
    return [this.requests, this.overloads, this.limitRefusals];
  }
}

/** Which front serves callers. */
export const frontMetric = (front: Front): Metric => ({
  type: 'gauge',
  name: 'tagcast_http_front_info',
  help: '1 for the front that reads the requests of callers: `uws`, uWebSockets.js with its version, or `node`, the one of our own.',
  labels: ['front', 'version'],
  read: () => [[{ front: front.kind, version: front.kind === 'uws' ? front.version : '' }, 1]],
});

export const connectionMetrics = (connections: CrowdReading): readonly Metric[] => [
  {
    type: 'gauge',
    name: 'tagcast_http_connections',
    help: 'Open connections of callers.',
    read: () => known(connections.size),
  },
  {
    type: 'counter',
    name: 'tagcast_http_connections_turned_away_total',
    help: 'Connections of callers that were closed because there was no room for them (file descriptors).',
    read: () => known(connections.turnedAway),
  },
  {
    type: 'counter',
    name: 'tagcast_http_connections_cut_off_total',
    help: 'Connections of callers that were closed because too many bytes of answers were unread.',
    read: () => known(connections.cutOff),
  },
  {
    type: 'gauge',
    name: 'tagcast_http_unsent_bytes',
    help: 'Bytes of answers that callers have not read yet.',
    read: () => known(connections.unsentBytes),
  },
];
