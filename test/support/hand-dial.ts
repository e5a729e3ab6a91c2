/**
 * Connections without a provider: the test says how an attempt ends, when a connection goes, and
 * what comes before what.
 */

import type {
  Attempt,
  ConnectionEvents,
  Dial,
  ProviderConnection,
} from '../../src/transport/provider-connection.ts';

export class HandConnection implements ProviderConnection {
  readonly events: ConnectionEvents;
  /** Under way, the oldest first. */
  readonly attempts: Attempt[] = [];
  started = 0;
  streams: number;
  isRetired = false;

  constructor(events: ConnectionEvents, streams: number) {
    this.events = events;
    this.streams = streams;
  }

  get free(): number {
    return this.isRetired ? 0 : Math.max(0, this.streams - this.attempts.length);
  }

  start(attempt: Attempt): void {
    this.started += 1;
    this.attempts.push(attempt);
  }

  retire(): void {
    this.leave('retired');
    if (this.attempts.length === 0) this.events.gone('drained');
  }

  destroy(reason: string): void {
    for (const attempt of this.attempts.splice(0)) {
      attempt.failed({ isUnprocessed: false, reason, status: null });
    }
    this.events.gone(reason);
  }

  /** The provider takes no more requests here. */
  leave(reason: string, isToCalmDown = false): void {
    if (this.isRetired) return;
    this.isRetired = true;
    this.events.retired(reason, isToCalmDown);
  }

  /** The oldest attempt has its answer. */
  answer(status: number): void {
    this.attempts.shift()?.answered({ status, fields: [], body: Buffer.alloc(0) });
  }

  /** The oldest attempt was not looked at. */
  refuse(): void {
    this.attempts.shift()?.failed({ isUnprocessed: true, reason: 'REFUSED', status: null });
  }
}

export interface HandDial {
  readonly dial: Dial;
  readonly connections: readonly HandConnection[];
}

/**
 * `beforeItIsThere` is called between a connection's opening and the moment when its opener hears
 * of it.
 */
export function handDial(
  streams: number,
  beforeItIsThere: (connection: HandConnection, number: number) => void = () => undefined,
): HandDial {
  const connections: HandConnection[] = [];
  const dial: Dial = (_options, events) => {
    const connection = new HandConnection(events, streams);
    connections.push(connection);
    beforeItIsThere(connection, connections.length);
    return Promise.resolve({ ok: true, connection });
  };
  return { dial, connections };
}
