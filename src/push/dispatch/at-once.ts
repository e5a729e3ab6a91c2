/**
 * Accepts small sends that may go at once, and starts them: accepted, planned and claimed in one
 * transaction, where others take three (decision 70).
 */

import type {
  DedicatedConnection,
  TransactionSettings,
} from '../../database/dedicated-connection.ts';
import { PLANS_ARE_KEPT } from '../../database/dedicated-connection.ts';
import { isLockTimeout } from '../../database/faults.ts';
import type { Store } from '../../database/store.ts';
import { scopeKeyOf } from '../../domain/device.ts';
import type { Payload } from '../../domain/notification.ts';
import type { PushOptions } from '../../domain/push-options.ts';
import { PUSH_OPTION_NAMES } from '../../domain/push-options.ts';
import type { ClaimedChunk } from '../sql/ledger/claim-chunks.ts';
import type { NewNotification } from '../sql/notifications/insert-notifications.ts';
import type { StartedChunk, StartedNotification } from '../sql/notifications/insert-started.ts';
import {
  insertStarted,
  isPerhapsSmall,
  lookUpsOfOne,
} from '../sql/notifications/insert-started.ts';
import { hasPolicy, setPolicies } from '../sql/notifications/set-policies.ts';
import type { Claimer } from './claimer.ts';
import type { Reservation } from './reservations.ts';

/** @limit transactions that accept and start at once → the next pushes take their turns */
const AT_ONCE_MAX = 2;
/**
 * They keep slots meanwhile. Another request may be using the same idempotency key.
 * @limit such a transaction waits for a lock → its pushes take their turns
 */
const LOCK_MS_MAX = 100;
/**
 * Some milliseconds. Each is looked up before it is known whether a push is small.
 * @limit scopes times tags of the pushes of such a transaction → they take their turns
 */
const LOOK_UPS_MAX = 4_096;

/** Its rows are joined with each other, where a hash is no worse than any number of them. */
export const AT_ONCE_SETTINGS: TransactionSettings = {
  ...PLANS_ARE_KEPT,
  enable_hashjoin: 'on',
  lock_timeout: String(LOCK_MS_MAX),
};

interface AtOnceOptions {
  readonly store: Pick<Store, 'openDedicatedConnection' | 'address'>;
  readonly claimer: Pick<Claimer, 'reserve'>;
  /** Whether pushes that this node has accepted wait for being planned. */
  readonly isAnyUnplanned: () => boolean;
}

export class AtOnce {
  readonly #options: AtOnceOptions;
  readonly #idle: DedicatedConnection[];

  constructor(options: AtOnceOptions) {
    const { store } = options;
    this.#options = options;
    // The embedded store is one session.
    const length = store.address.kind === 'embedded' ? 1 : AT_ONCE_MAX;
    this.#idle = Array.from({ length }, () => store.openDedicatedConnection(AT_ONCE_SETTINGS));
  }

  /**
   * Writes notifications of one client as insertNotifications does; those with chunks are under way
   * on this node then. Null: nothing was written, and they must take their turns.
   */
  async insert(
    notifications: readonly NewNotification[],
  ): Promise<readonly StartedNotification[] | null> {
    if (!notifications.every(isPerhapsSmall) || lookUpsOf(notifications) > LOOK_UPS_MAX)
      return null;
    const connection = this.#idle.pop();
    if (connection === undefined) return null;
    try {
      return await this.#insertOn(connection, notifications);
    } finally {
      this.#idle.push(connection);
    }
  }

  async #insertOn(
    connection: DedicatedConnection,
    notifications: readonly NewNotification[],
  ): Promise<readonly StartedNotification[] | null> {
    const reservation = this.#options.claimer.reserve(
      notifications.flatMap(({ clientId, isUrgent, scopes }) =>
        scopes.map((scope) => ({ ...scope, clientId, isUrgent })),
      ),
      {
        isAnyUnplanned: this.#options.isAnyUnplanned(),
        // Two may replace each other on the phone: then the later one must stay.
        keepTheirTurn: notifications.some(({ payload }) => payload.collapseId !== undefined),
      },
    );
    if (reservation === null) return null;
    const written = await insertReserved(connection, notifications, reservation);
    if (written === null) return null;
    const byId = new Map(notifications.map((notification) => [notification.id, notification]));
    reservation.start(written.flatMap((started) => claimedOf(started, byId.get(started.id))));
    return written;
  }
}

/** Null: something that it needs is locked. */
async function insertReserved(
  connection: DedicatedConnection,
  notifications: readonly NewNotification[],
  reservation: Reservation,
): Promise<readonly StartedNotification[] | null> {
  const [clientId = 0] = notifications.map((notification) => notification.clientId);
  try {
    const [, written] = await connection.transactAtOnce((tx) =>
      Promise.all([
        // First: who changes the ordinals of devices holds it, and the plan must see the new ones.
        tx`select from clients where id = ${clientId} for key share nowait`,
        insertStarted(tx, notifications, reservation),
        ...(notifications.some(hasPolicy) ? [setPolicies(tx, notifications)] : []),
      ]),
    );
    return written;
  } catch (error) {
    reservation.cancel();
    if (isLockTimeout(error)) return null;
    throw error;
  }
}

const lookUpsOf = (notifications: readonly NewNotification[]): number =>
  notifications.reduce((sum, notification) => sum + lookUpsOfOne(notification), 0);

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
        retries: null,
        correction: null,
        caps: null,
        isAlone: true,
        isDoubted: false,
        restWords: null,
        waveAtMs: null,
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

/** The payload of a template, where one concerns the scope (terms.ts reads the same). */
const payloadOf = ({ templated, payload }: NewNotification, scope: StartedChunk): Payload =>
  templated?.payloads[scopeKeyOf(scope)] ?? payload;
