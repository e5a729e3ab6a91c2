/**
 * Accepts small sends that may go at once, and starts them: accepted, planned and claimed in one
 * transaction, where others take three (decision 70).
 */

import type { DedicatedConnection } from '../../database/dedicated-connection.ts';
import { PLANS_ARE_KEPT } from '../../database/dedicated-connection.ts';
import type { Store } from '../../database/store.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import type { PushOptions } from '../../domain/push-options.ts';
import { PUSH_OPTION_NAMES } from '../../domain/push-options.ts';
import type { ClaimedChunk } from '../sql/ledger/claim-chunks.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';
import type { StartedChunk, StartedNotification } from '../sql/notifications/insert-started.ts';
import { insertStarted, isPerhapsSmall } from '../sql/notifications/insert-started.ts';
import type { Claimer } from './claimer.ts';

/**
 * A client whose devices are being moved keeps one waiting.
 * @limit transactions that accept and start at once → the next pushes are accepted, and take their
 * turns
 */
const AT_ONCE_MAX = 2;

/** Its rows are joined with each other, where a hash is no worse than any number of them. */
export const AT_ONCE_SETTINGS = [...PLANS_ARE_KEPT, 'set local enable_hashjoin = on'];

interface AtOnceOptions {
  readonly store: Pick<Store, 'openDedicatedConnection' | 'address'>;
  readonly claimer: Pick<Claimer, 'reserve'>;
}

export class AtOnce {
  private readonly claimer: AtOnceOptions['claimer'];
  private readonly idle: DedicatedConnection[];

  constructor({ store, claimer }: AtOnceOptions) {
    this.claimer = claimer;
    // The embedded store is one session.
    const length = store.address.kind === 'embedded' ? 1 : AT_ONCE_MAX;
    this.idle = Array.from({ length }, () => store.openDedicatedConnection(AT_ONCE_SETTINGS));
  }

  /**
   * Writes notifications as insertNotifications does; those with chunks are under way on this node
   * then. Null: nothing was written, and they must take their turns.
   */
  async insert(
    notifications: readonly NewNotification[],
  ): Promise<readonly StartedNotification[] | null> {
    if (!notifications.every(isPerhapsSmall)) return null;
    const connection = this.idle.pop();
    if (connection === undefined) return null;
    try {
      return await this.insertOn(connection, notifications);
    } finally {
      this.idle.push(connection);
    }
  }

  private async insertOn(
    connection: DedicatedConnection,
    notifications: readonly NewNotification[],
  ): Promise<readonly StartedNotification[] | null> {
    const reservation = this.claimer.reserve(
      notifications.flatMap(({ clientId, isUrgent, scopes }) =>
        scopes.map((scope) => ({ ...scope, clientId, isUrgent })),
      ),
    );
    if (reservation === null) return null;
    try {
      const written = await connection.transactAtOnce((tx) =>
        insertStarted(tx, notifications, reservation),
      );
      const byId = new Map(notifications.map((notification) => [notification.id, notification]));
      reservation.start(written.flatMap((started) => claimedOf(started, byId.get(started.id))));
      return written;
    } catch (error) {
      reservation.cancel();
      throw error;
    }
  }
}

const claimedOf = (
  { id, anyTagIds, acceptedAtMs, chunks }: StartedNotification,
  notification: NewNotification | undefined,
): readonly ClaimedChunk[] =>
  notification === undefined
    ? []
    : chunks.map((chunk) => ({
        ...chunk,
        notificationId: id,
        clientId: notification.clientId,
        state: 'RUNNING',
        fault: null,
        hasDelivered: false,
        terms: {
          ...optionsOf(notification),
          audience: { ...notification.audience, anyTagIds },
          payload: payloadOf(notification, chunk),
        },
        dueAtMs: Math.floor(acceptedAtMs),
        expiresAtMs: notification.expiresAtMs,
        claimedAtMs: Math.floor(acceptedAtMs),
        epoch: 1,
        doneBlocks: '0',
        startedBlocks: '0',
        claimsWithoutProgress: 1,
        lastFailure: null,
      }));

const optionsOf = (notification: NewNotification): PushOptions =>
  Object.fromEntries(PUSH_OPTION_NAMES.map((name) => [name, notification[name]])) as PushOptions;

/** As terms.ts reads it: a template's, or in the scope's language, if there is one. */
const payloadOf = ({ templated, payload }: NewNotification, scope: StartedChunk): Payload =>
  templated?.payloads[scopeKeyOf(scope)] ?? payload;
