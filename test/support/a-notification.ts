/**
 * Records as most tests want them, each with a field for everything that the product asks for: a
 * test names only what it is about.
 */

import { DEFAULT_PUSH_OPTIONS } from '../../src/domain/push-options.ts';
import { uuidV7 } from '../../src/domain/uuid-v7.ts';
import type { Push } from '../../src/push/accept/push.ts';
import type { Claimable } from '../../src/push/sql/ledger/list-claimable.ts';
import type { NewNotification } from '../../src/push/sql/notifications/insert-notifications.ts';

const NO_TAGS = { ids: [], sourceIds: [] };

/** A push as a publisher asks for it; to no tag. */
export const aPush = (more: Partial<Push> = {}): Push => ({
  target: NO_TAGS,
  filter: NO_TAGS,
  exclude: NO_TAGS,
  appIds: null,
  platformIds: null,
  options: DEFAULT_PUSH_OPTIONS,
  payload: { title: 'goal!', data: {} },
  sendAtMs: null,
  expiresAtMs: null,
  ...more,
});

/** An accepted notification, to be inserted; to no tag and without scopes. */
export const aNotification = (
  more: Pick<NewNotification, 'clientId'> & Partial<NewNotification>,
): NewNotification => ({
  id: uuidV7(),
  userName: 'test',
  audience: { anyTagIds: [], allTagIds: [], noneTagIds: [] },
  payload: { title: 'goal!', data: {} },
  ...DEFAULT_PUSH_OPTIONS,
  sendAtMs: null,
  expiresAtMs: null,
  scopes: [],
  idempotency: null,
  ...more,
});

/** A notification in one scope that has chunks to be claimed. */
export const aClaimable = (more: Partial<Claimable> = {}): Claimable => ({
  notificationId: 'a',
  clientId: 1,
  appId: 1,
  platformId: 3,
  hasChunks: true,
  hasRetries: false,
  isSmall: true,
  isScheduled: false,
  isUrgent: false,
  ratePerSecond: null,
  ...more,
});
