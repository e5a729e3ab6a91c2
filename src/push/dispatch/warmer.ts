/** Opens connections ahead of scheduled sends, in every worker: that takes four round trips. */

import type { Logger } from 'pino';
import type { Sql } from '../../database/sql.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import { Recurring } from '../../std/recurring.ts';
import type { Broadcast } from '../protocol/broadcast.ts';
import type { UpcomingScope } from '../sql/notifications/list-upcoming.ts';
import { listUpcoming } from '../sql/notifications/list-upcoming.ts';
import type { Authorizer } from './authorizer.ts';

/**
 * Long enough for a token request and a handshake that is tried twice, too short to idle out.
 * @limit how long ahead
 */
const AHEAD_MS = 10_000;
const LOOK_EVERY_MS = 2_000;
/** Each costs a look-up of its credential; the sends of the others open their own connections. */
const SCOPES_MAX = 200;
/**
 * The sends of one connection in a second, with 1,000 streams and a round trip of 50 ms.
 * @limit devices of a scheduled send, in a thread, for which one connection is opened ahead → the
 * send opens more
 */
const DEVICES_PER_CONNECTION = 20_000;
/** @limit connections opened ahead → the send opens more */
const CONNECTIONS_MAX = 8;

interface WarmerOptions {
  readonly sql: Sql;
  readonly authorizer: Authorizer;
  readonly broadcast: Broadcast;
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
      // Every look warms again, for new threads and lost connections.
      for (const scope of await listUpcoming(sql, AHEAD_MS, SCOPES_MAX)) await this.warm(scope);
    } catch (error) {
      log.warn({ err: error }, 'connections could not be opened in advance; sends open them');
    }
  }

  private async warm(scope: UpcomingScope): Promise<void> {
    const { appId, platformId, devicesMax } = scope;
    const { authorizer, broadcast, threads } = this.options;
    const authorization = await authorizer.authorize(appId, platformId);
    // The send itself will report what is wrong.
    if (authorization.kind !== 'granted') return;
    const connections = Math.ceil(devicesMax / threads / DEVICES_PER_CONNECTION);
    broadcast.send({
      kind: 'warm',
      scopeKey: scopeKeyOf(scope),
      authorized: authorization.authorized,
      connections: Math.min(Math.max(connections, 1), CONNECTIONS_MAX),
    });
  }
}
