/** Gathers the state of the installation from its parts, for its operator. */

import { hostname } from 'node:os';
import type { Readiness } from '../../api/open/readiness.ts';
import type { SystemState } from '../../api/open/system.ts';
import { listNodes } from '../../database/nodes/list-nodes.ts';
import type { Sql } from '../../database/sql.ts';
import type { Front } from '../../http/choose-front.ts';
import { readQueue } from '../../push/sql/read-queue.ts';
import { fullVersion } from '../version.ts';
import type { Devices } from './devices.ts';
import type { Sending } from './sending.ts';
import type { OpenTagIndex } from './tag-index.ts';

interface SystemSources {
  readonly sql: Sql;
  readonly front: Front;
  readonly readiness: Pick<Readiness, 'ask'>;
  readonly tagIndex: Pick<OpenTagIndex, 'reading'>;
  readonly sending: Pick<Sending, 'fanOut' | 'watch'>;
  readonly devices: Pick<Devices, 'registration'>;
}

/**
 * Living ones, and those of the last 20 minutes.
 * @limit nodes that the operator sees → the older ones are left out
 */
const NODES_MAX = 200;
/**
 * A count of a million would take a second.
 * @limit jobs, chunks, retries that are counted for an operator, each → the number stays
 */
const COUNTED_MAX = 100_000;

/** This node, on the embedded database: it is the only one, and has no heartbeat. */
const ALONE = { id: 1, host: hostname(), pid: process.pid, seenAgoMs: 0, isDead: false };

export async function gatherSystem(sources: SystemSources): Promise<SystemState> {
  const { sql, front, readiness, tagIndex, devices } = sources;
  const { fanOut, watch } = sources.sending;
  const [nodes, queue, { body }] = await Promise.all([
    listNodes(sql, NODES_MAX),
    readQueue(sql, COUNTED_MAX),
    readiness.ask(),
  ]);
  return {
    ...fullVersion(),
    nodes: nodes.length === 0 ? [ALONE] : nodes,
    front: {
      kind: front.kind,
      version: front.kind === 'uws' ? front.version : null,
      reason: front.kind === 'node' ? front.reason : null,
    },
    stores: body.stores,
    index: tagIndex.reading(),
    providers: {
      openCircuits: fanOut.circuitBreakers.readings,
      credentials: watch.readings,
      connections: fanOut
        .providers()
        .map(({ provider, connections, streams, connectFailures }) => ({
          provider,
          connections,
          streams,
          connectFailures,
        })),
    },
    queue: { ...queue, registrations: devices.registration.depth },
  };
}
