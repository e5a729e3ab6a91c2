/** Gathers the state of the installation from its parts, for its operator. */

import { hostname } from 'node:os';
import type { Readiness } from './http/open/readiness.ts';
import type { SystemState } from './http/operator/system.ts';
import { readQueue } from './store/health/read-queue.ts';
import { listNodes } from './store/nodes/list-nodes.ts';
import type { Sql } from './store/sql.ts';
import { version } from './version.ts';

export interface SystemSources extends Pick<SystemState, 'providers' | 'index'> {
  readonly sql: Sql;
  readonly readiness: Pick<Readiness, 'ask'>;
  readonly registrations: number;
}

/** Living ones, and those of the last 20 minutes, which housekeeping has not deleted yet. */
const NODES_MAX = 200;
/** Of jobs, chunks and retries each: a count of a million would take a second. */
const COUNTED_MAX = 100_000;

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
    },
    queue: { ...queue, registrations },
  };
}
