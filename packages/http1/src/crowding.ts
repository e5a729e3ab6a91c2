/** Counts the connections that are closed to make room for others, and logs them now and then. */

import { Seldom } from '../../std/src/seldom.ts';

/** Hears what an operator should know: pino's loggers do, and others. */
export interface ListenerLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

interface CrowdingOptions {
  readonly connectionsMax: number;
  readonly unsentBytesMax: number;
  readonly log: ListenerLog;
}

/**
 * The first connection that is closed is logged at once, later ones with their number, at most this
 * often.
 */
const LOG_INTERVAL_MS = 60_000;

export class Crowding {
  readonly #options: CrowdingOptions;
  readonly #turnedAwayLog = new Seldom(LOG_INTERVAL_MS);
  readonly #cutOffLog = new Seldom(LOG_INTERVAL_MS);
  #turnedAway = 0;
  #cutOff = 0;

  constructor(options: CrowdingOptions) {
    this.#options = options;
  }

  /** Connections that were closed because there was no room. */
  get turnedAway(): number {
    return this.#turnedAway;
  }

  /** Connections that were closed because too many bytes of answers were unread. */
  get cutOff(): number {
    return this.#cutOff;
  }

  /** A connection of this address is closed because there is no room. */
  noteTurnedAway(address: string | undefined): void {
    this.#turnedAway += 1;
    const closed = this.#turnedAwayLog.count();
    if (closed === null) return;
    const { connectionsMax, log } = this.#options;
    log.warn(
      { connectionsMax, closed, address },
      'no room for more connections: those of the address with the most are closed, the longest idle first; raise the limit of open files (ulimit -n), or find out who connects',
    );
  }

  /** A connection of this address is closed because too many bytes of answers are unread. */
  noteCutOff(address: string): void {
    this.#cutOff += 1;
    const closed = this.#cutOffLog.count();
    if (closed === null) return;
    const { unsentBytesMax, log } = this.#options;
    log.warn(
      { unsentBytesMax, closed, address },
      'too many bytes of answers are unread: connections of the address with the most are closed, the longest waiting first; find out who sends requests and does not read the answers',
    );
  }
}
