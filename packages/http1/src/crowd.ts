/**
 * The connections of a listener: their places, and their unsent answers. When there is no room for
 * either it chooses connections to close, counts them, and logs that now and then.
 */

import { Seldom } from '../../std/src/seldom.ts';
import type { Seat } from './connection-table.ts';
import { ConnectionTable } from './connection-table.ts';
import type { CrowdReading } from './front.ts';
import { UnsentAnswers } from './unsent-answers.ts';

/** Hears what an operator should know: pino's loggers do, and others. */
export interface ListenerLog {
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
}

interface CrowdOptions {
  readonly connectionsMax: number;
  readonly unsentBytesMax: number;
  readonly log: ListenerLog;
}

/** A connection that answers are written to. */
interface Writable<Guest> {
  readonly seat: Seat<Guest>;
  /** Bytes of its answers that the system has not taken yet. */
  readonly unsentBytes: number;
}

/** How the listener closes a connection. */
interface Closing<Guest, Connection> {
  /** There is no room for it. Its place must be free at once, for the next new connection. */
  turnAway(seat: Seat<Guest>): void;
  /** Too many bytes are unread. */
  cutOff(connection: Connection): void;
}

/**
 * The first connection that is closed is logged at once, later ones with their number, at most this
 * often.
 */
const LOG_INTERVAL_MS = 60_000;

/** `Guest`: what has a place, from the moment in which it is accepted. */
export class Crowd<Guest, Connection extends Writable<Guest>> implements CrowdReading {
  readonly #options: CrowdOptions;
  readonly #closing: Closing<Guest, Connection>;
  readonly #table: ConnectionTable<Guest>;
  readonly #unsent = new UnsentAnswers<Connection>();
  readonly #turnedAwayLog = new Seldom(LOG_INTERVAL_MS);
  readonly #cutOffLog = new Seldom(LOG_INTERVAL_MS);
  #turnedAway = 0;
  #cutOff = 0;

  constructor(options: CrowdOptions, closing: Closing<Guest, Connection>) {
    this.#options = options;
    this.#closing = closing;
    this.#table = new ConnectionTable(options.connectionsMax);
  }

  get size(): number {
    return this.#table.size;
  }

  get turnedAway(): number {
    return this.#turnedAway;
  }

  get cutOff(): number {
    return this.#cutOff;
  }

  get unsentBytes(): number {
    return this.#unsent.bytes;
  }

  enter(guest: Guest, address: string): Seat<Guest> {
    return this.#table.enter(guest, address);
  }

  leave(seat: Seat<Guest>): void {
    this.#table.leave(seat);
  }

  works(seat: Seat<Guest>): void {
    this.#table.works(seat);
  }

  waits(seat: Seat<Guest>): void {
    this.#table.waits(seat);
  }

  /** Closes a connection if there is no room for this one. */
  makeRoom(newcomer: Seat<Guest>): void {
    if (!this.#table.isOverfull) return;
    const leaver = this.#table.whoGoes() ?? newcomer;
    this.#turnedAway += 1;
    this.#closing.turnAway(leaver);
    const closed = this.#turnedAwayLog.count();
    if (closed === null) return;
    const { connectionsMax, log } = this.#options;
    log.warn(
      { connectionsMax, closed, address: leaver.address },
      'no room for more connections: those of the address with the most are closed, the longest idle first; raise the limit of open files (ulimit -n), or find out who connects',
    );
  }

  /** The unsent bytes of a connection have changed. Closes those that are too much. */
  owes(connection: Connection): void {
    this.#note(connection, connection.unsentBytes);
    while (this.#unsent.bytes > this.#options.unsentBytesMax) {
      const longest = this.#unsent.whoGoes();
      if (longest === null) return;
      // The system may have taken some bytes since the last count.
      this.#note(longest, longest.unsentBytes);
      if (longest.unsentBytes > 0 && this.#unsent.bytes > this.#options.unsentBytesMax) {
        this.#cutShort(longest);
      }
    }
  }

  /** Nothing more of its answers will be sent. */
  owesNothing(connection: Connection): void {
    this.#note(connection, 0);
  }

  #note(connection: Connection, bytes: number): void {
    this.#unsent.note(connection, connection.seat.network.name, bytes);
  }

  #cutShort(connection: Connection): void {
    this.#note(connection, 0);
    this.#cutOff += 1;
    this.#closing.cutOff(connection);
    const closed = this.#cutOffLog.count();
    if (closed === null) return;
    const { unsentBytesMax, log } = this.#options;
    log.warn(
      { unsentBytesMax, closed, address: connection.seat.address },
      'too many bytes of answers are unread: connections of the address with the most are closed, the longest waiting first; find out who sends requests and does not read the answers',
    );
  }
}
