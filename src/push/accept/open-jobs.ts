/**
 * Holds the limit of open push jobs. They are counted again only when the last count and what came
 * since reach it, so several nodes may exceed it by what they accept between two counts.
 */

import { CappedMap } from '../../../packages/std/src/capped-map.ts';
import type { Sql } from '../../database/sql.ts';
import type { ClientLimits, OverLimit } from '../../domain/client-limits.ts';
import { limitOf } from '../../domain/client-limits.ts';
import { countOpen } from '../sql/notifications/count-open.ts';

/**
 * At a limit of a million a client is counted every ten seconds.
 * @limit jobs that are read to count them, of one client, in a second → the last count holds
 */
const COUNTED_PER_SECOND_MAX = 100_000;
/**
 * Clients whose count is remembered, about 100 bytes each; others are counted again.
 * @limit clients whose open jobs are remembered → counted again
 */
const CLIENTS_MAX = 10_000;

interface Count {
  /** At the last count, and accepted since. */
  jobs: number;
  readonly countedAtMs: number;
}

/** How many of the wanted jobs may be made, and the limit that the others are beyond. */
interface Room {
  readonly jobs: number;
  readonly over: OverLimit;
}

export class OpenJobs {
  readonly #sql: Sql;
  readonly #counts = new CappedMap<number, Count>({ sizeMax: CLIENTS_MAX });

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Takes room for as many of `wanted` jobs as the client may have more. */
  async take(clientId: number, limits: ClientLimits, wanted: number): Promise<Room> {
    const max = limitOf(limits, 'openJobs');
    const count = await this.#current(clientId, max, wanted);
    const { jobs: current } = count;
    const jobs = Math.max(0, Math.min(wanted, max - current));
    count.jobs += jobs;
    return { jobs, over: { name: 'openJobs', max, current } };
  }

  async #current(clientId: number, max: number, wanted: number): Promise<Count> {
    const known = this.#counts.get(clientId);
    const pauseMs = (max / COUNTED_PER_SECOND_MAX) * 1_000;
    const isEnough =
      known !== undefined &&
      (known.jobs + wanted <= max || performance.now() - known.countedAtMs < pauseMs);
    if (isEnough) return known;
    const countedAtMs = performance.now();
    const count = { jobs: await countOpen(this.#sql, clientId, max), countedAtMs };
    this.#counts.set(clientId, count);
    return count;
  }
}
