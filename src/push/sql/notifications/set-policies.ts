/** Keeps with new notifications what the policies of their client make of them (decision 78). */

import { json, rowsOf, text, uuid } from '../../../database/rows.ts';
import type { Sql, SqlPool } from '../../../database/sql.ts';
import { transact } from '../../../database/transact.ts';
import type { NewNotification } from './insert-notifications.ts';
import { insertNotifications } from './insert-notifications.ts';

/** Runs in the transaction that writes them: no node plans or claims one before. */
export const setPolicies = (tx: Sql, notifications: readonly NewNotification[]) => tx`
  update notifications n set category = policy.category, caps = policy.caps::jsonb
  from ${policies(tx, notifications.filter(hasPolicy))} where n.id = policy.id`;

/** Writes them as insertNotifications does, with their policies. */
export const insertUnderPolicies = (sql: SqlPool, notifications: readonly NewNotification[]) =>
  notifications.some(hasPolicy)
    ? transact(sql, async (tx) => {
        const accepted = await insertNotifications(tx, notifications);
        await setPolicies(tx, notifications);
        return accepted;
      })
    : insertNotifications(sql, notifications);

export const hasPolicy = ({ policy }: NewNotification): boolean => policy !== undefined;

const policies = rowsOf<NewNotification>('policy', {
  id: uuid(({ id }) => id),
  category: text(({ policy }) => policy?.category ?? null),
  caps: json(({ policy }) => policy?.caps ?? null),
});
