/** How many connections to PostgreSQL a node has at most: the one place that counts them. */

import { PATIENT_READS_MAX } from './patient-reads.ts';

/**
 * @limit connections of the main thread; each stage of registration, the ledger and the heartbeat
 * have one more → they wait in the driver
 */
export const POOL_CONNECTIONS_MAX = 16;

/** Each of these keeps one to itself (`Store.openDedicatedConnection`). */
export const CONNECTIONS_DEDICATED: readonly string[] = [
  ...['look', 'commit', 'at once', 'at once, too', 'planner', 'claimer', 'ledger', 'heartbeat'],
];
/** The connection of `/readyz`, in `write-probe.ts`. */
const PROBES = 1;

/** The connections of a node, without its workers'. */
export const CONNECTIONS_PER_NODE =
  POOL_CONNECTIONS_MAX + PATIENT_READS_MAX + CONNECTIONS_DEDICATED.length + PROBES;

/**
 * At most two queries run at a time: resolving must not crowd out registrations.
 * @limit connections of a worker thread → wait in the driver
 */
export const CONNECTIONS_PER_WORKER = 2;
