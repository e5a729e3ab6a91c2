/** Gathers the state of the installation from its parts, for its operator. */

import { hostname } from 'node:os';
import type { Readiness } from '../../api/open/readiness.ts';
import type { SystemState } from '../../api/open/system.ts';
import { listNodes } from '../../database/nodes/list-nodes.ts';
import type { Sql } from '../../database/sql.ts';
import type { QueueReading } from '../../push/sql/read-queue.ts';
import { readQueue } from '../../push/sql/read-queue.ts';
import { LastKnown } from '../../std/last-known.ts';
import type { WaitingWebhooks } from '../../webhooks/sql/read-waiting.ts';
import { readWaitingWebhooks } from '../../webhooks/sql/read-waiting.ts';
import { version } from '../version.ts';

interface SystemSources extends Pick<SystemState, 'providers' | 'index'> {
  readonly sql: Sql;
  readonly readiness: Pick<Readiness, 'ask'>;
  readonly registrations: number;
}

/**
 * Living ones, and those of the last 20 minutes, which housekeeping has not deleted yet.
 * @limit nodes that the operator sees → the older ones are not told
 */
const NODES_MAX = 200;
/**
 * Of jobs, chunks and retries each: a count of a million would take a second.
 * @limit jobs, chunks, retries that are counted for him, each → the number stays
 */
const COUNTED_MAX = 100_000;

/**
 * The same for the metrics: every node counts as often as it is scraped, and an operator who sees
 * so many knows enough.
 * @limit jobs, chunks, retries that the metrics count, each → the number stays
 */
const BACKLOG_COUNTED_MAX = 10_000;
/**
 * Of a count that a scrape tells: longer than scrapers wait from one to the next.
 * @limit the age at which such a count is not told any more → the series are absent
 */
const BACKLOG_AGE_MS_MAX = 120_000;

/** What waits in the database, as of the last time that somebody asked. */
export const createBacklog = (sql: Sql): LastKnown<QueueReading> =>
  new LastKnown({
    ask: () => readQueue(sql, BACKLOG_COUNTED_MAX),
    ageMsMax: BACKLOG_AGE_MS_MAX,
  });

/** What webhooks are still to be told, likewise. */
export const createWebhookBacklog = (sql: Sql): LastKnown<WaitingWebhooks> =>
  new LastKnown({
    ask: () => readWaitingWebhooks(sql, BACKLOG_COUNTED_MAX),
    ageMsMax: BACKLOG_AGE_MS_MAX,
  });

/** This node, on the embedded database: it is the only one, and has no heartbeat. */
const ALONE = { id: 1, host: hostname(), pid: process.pid, seenAgoMs: 0, isDead: false };

export async function gatherSystem(sources: SystemSources): Promise<SystemState> {
  const { sql, readiness, index, providers, registrations } = sources;
  const [nodes, queue, { body }] = await Promise.all([
    listNodes(sql, NODES_MAX),
    readQueue(sql, COUNTED_MAX),
    readiness.ask(),
  ]);
  return {
    version: version(),
    nodes: nodes.length === 0 ? [ALONE] : nodes,
    stores: body.stores,
    index,
    providers: {
      ...providers,
      credentials: providers.credentials.map(
        ({ appId, platformId, isHealthy, expiresAtMs, isFallback }) => ({
          appId,
          platformId,
          isHealthy,
          expiresAtMs,
          isFallback,
        }),
      ),
      connections: providers.connections.map(
        ({ provider, connections, streams, connectFailures }) => ({
          provider,
          connections,
          streams,
          connectFailures,
        }),
      ),
    },
    queue: { ...queue, registrations },
  };
}
