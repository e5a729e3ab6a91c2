/** Gathers the state of the installation from its parts, for its operator. */

import { hostname } from 'node:os';
import type { Readiness } from '../../api/open/readiness.ts';
import type { CredentialStandingShown, SystemState } from '../../api/open/system.ts';
import { listNodes } from '../../database/nodes/list-nodes.ts';
import type { Sql } from '../../database/sql.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Front } from '../../http/choose-front.ts';
import { failingOf } from '../../provider-credentials/failing.ts';
import { listStandings } from '../../provider-credentials/sql/list-standings.ts';
import { listFailingSends } from '../../push/sql/list-failing-sends.ts';
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
  readonly sending: Pick<Sending, 'fanOut'>;
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

/** @limit providers of apps that the operator sees, those in trouble first → left out */
const CREDENTIALS_MAX = 200;
/** @limit sends with a fault in 24 hours that are counted for the operator → the newest */
const FAILING_SENDS_MAX = 10_000;
const DAY_MS = 86_400_000;

/** This node, on the embedded database: it is the only one, and has no heartbeat. */
const ALONE = { id: 1, host: hostname(), pid: process.pid, seenAgoMs: 0, isDead: false };

export async function gatherSystem(sources: SystemSources): Promise<SystemState> {
  const { sql, front, readiness, tagIndex, devices } = sources;
  const { fanOut } = sources.sending;
  const [nodes, queue, credentials, { body }] = await Promise.all([
    listNodes(sql, NODES_MAX),
    readQueue(sql, COUNTED_MAX),
    credentialStandings(sql),
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
      credentials,
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

async function credentialStandings(sql: Sql): Promise<readonly CredentialStandingShown[]> {
  const [standings, failing] = await Promise.all([
    listStandings(sql, CREDENTIALS_MAX),
    listFailingSends(sql, Date.now() - DAY_MS, FAILING_SENDS_MAX),
  ]);
  const failingBy = new Map(failing.map((one) => [scopeKeyOf(one), one]));
  return standings.map((one) => ({
    appId: one.appId,
    platformId: one.platformId,
    appName: one.appName,
    clientId: one.clientId,
    clientName: one.clientName,
    hasCredential: one.hasCredential,
    isHealthy: one.isHealthy,
    isFallback: one.refusedReason !== null && one.fallbackUntilMs !== null,
    failing: failingOf(one) ?? null,
    acceptedAtMs: one.acceptedAtMs === null ? null : Math.floor(one.acceptedAtMs),
    expiresAtMs: one.expiresAtMs,
    failingSends: failingBy.get(scopeKeyOf(one)) ?? null,
  }));
}
