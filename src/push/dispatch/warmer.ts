/**
 * Opens connections for sends that are due in a moment, in every worker of every node: name, TCP,
 * TLS and SETTINGS are four round trips that a send at noon sharp need not wait for.
 */

import type { Logger } from 'pino';
import { scopeKeyOf } from '../../domain/device.ts';
import { Recurring } from '../../std/recurring.ts';
import type { UpcomingScope } from '../../store/notifications/list-upcoming.ts';
import { listUpcoming } from '../../store/notifications/list-upcoming.ts';
import type { Sql } from '../../store/sql.ts';
import type { Wire } from '../protocol/wire.ts';
import type { Authorizer } from './authorizer.ts';

/** Long enough for a token request and a handshake that is tried twice, too short to idle out. */
const AHEAD_MS = 10_000;
const LOOK_EVERY_MS = 2_000;
/**
 * Scopes of a look, each of which is a look at its credential; more at one time are warmed by their
 * first sends.
 */
const SCOPES_MAX = 200;
/** What one connection does in a second with 1,000 streams and a round trip of 50 ms. */
const DEVICES_PER_CONNECTION = 20_000;
/**
 * As many as the addresses of the provider that has most: more are opened when the send shows that
 * it needs them.
 */
const CONNECTIONS_MAX = 8;

export interface WarmerOptions {
  readonly sql: Sql;
  readonly authorizer: Authorizer;
  readonly wire: Wire;
  readonly threads: number;
  readonly log: Logger;
}

export class Warmer {
  private readonly options: WarmerOptions;
  private readonly recurring: Recurring;

  constructor(options: WarmerOptions) {
    this.options = options;
    this.recurring = new Recurring(LOOK_EVERY_MS, () => this.look());
  }

  start(): void {
    this.recurring.start();
  }

  stop(): Promise<void> {
    return this.recurring.stop();
  }

  private async look(): Promise<void> {
    const { sql, log } = this.options;
    try {
      // Every time anew: a thread may have started since, or a connection have been lost. Who has
      // enough opens none.
      for (const scope of await listUpcoming(sql, AHEAD_MS, SCOPES_MAX)) await this.warm(scope);
    } catch (error) {
      log.warn({ err: error }, 'connections could not be opened in advance; sends open them');
    }
  }

  private async warm(scope: UpcomingScope): Promise<void> {
    const { appId, platformId, devicesMax } = scope;
    const { authorizer, wire, threads } = this.options;
    const right = await authorizer.authorize(appId, platformId);
    // The send itself will say what is wrong.
    if (right.kind !== 'granted') return;
    const connections = Math.ceil(devicesMax / threads / DEVICES_PER_CONNECTION);
    wire.say({
      kind: 'warm',
      scopeKey: scopeKeyOf(scope),
      authority: right.authority,
      connections: Math.min(Math.max(connections, 1), CONNECTIONS_MAX),
    });
  }
}
