/** Pushes handed to a fan-out inside the test's process, and what its store says of them. */

import type { Store } from '../../src/database/store.ts';
import type { Push } from '../../src/push/accept/push.ts';
import type { FanOut } from '../../src/push/fan-out.ts';
import type { ScopeStatus } from '../../src/push/sql/notifications/read-status.ts';
import { readStatus } from '../../src/push/sql/notifications/read-status.ts';
import { aPush } from './a-notification.ts';
import type { Tenant } from './notifications.ts';
import { until } from './poll.ts';
import { seedDevices } from './seed.ts';

/**
 * The longest send has twenty seconds of a slow provider before it, beside whatever else the
 * machine does.
 */
const FINAL_WITHIN_MS = 120_000;
const FINAL = new Set(['FINISHED', 'FAILED', 'CANCELLED']);

/** A push to the tenant's tag. */
export const pushTo = ({ tagId }: Tenant, more: Partial<Push> = {}): Push =>
  aPush({ target: { ids: [tagId], sourceIds: [] }, ...more });

/** Has it accepted; answers its id. */
export async function submit(
  fanOut: FanOut,
  tenant: Tenant,
  push = pushTo(tenant),
): Promise<string> {
  const { clientId } = tenant;
  const acceptance = await fanOut.accept.submit(push, {
    clientId,
    userName: 't',
    requestId: 'r',
    idempotency: null,
  });
  if (acceptance.kind !== 'accepted') throw new Error(acceptance.kind);
  return acceptance.id;
}

/** The rows of a notification once every one is in a final state. */
export const finalRows = (
  store: Store,
  { clientId }: Tenant,
  id: string,
): Promise<readonly ScopeStatus[]> =>
  until(
    `${id} is final`,
    async () => {
      const rows = (await readStatus(store.sql, clientId, id)) ?? [];
      return rows.every(({ state }) => FINAL.has(state)) ? rows : null;
    },
    FINAL_WITHIN_MS,
  );

/** Makes so many devices of the tenant's tag, by platform. */
export async function seed(
  store: Store,
  { appId, tagId }: Tenant,
  counts: Readonly<Record<number, number>>,
) {
  for (const [platformId, count] of Object.entries(counts)) {
    await seedDevices(store.sql, { appId, platformId: Number(platformId), tagIds: [tagId], count });
  }
}
