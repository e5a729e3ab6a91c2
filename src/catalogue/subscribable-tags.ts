/** Finds the tags of a batch that devices can subscribe to, by the database's clock. */

import type { Sql } from '../database/sql.ts';
import { list } from '../database/sql.ts';

export interface SubscribableTag {
  readonly id: number;
  /** The apps it is connected to; null: every app of its client. */
  readonly appIds: readonly number[] | null;
}

/** Leaves out tags that are deleted or expired. */
export async function subscribableTags(
  tx: Sql,
  tagIds: readonly number[],
): Promise<readonly SubscribableTag[]> {
  if (tagIds.length === 0) return [];
  return await tx<SubscribableTag[]>`
    select id, app_ids as "appIds" from tags
    where id = any (${list(tagIds)}::integer[]) and deleted_at is null
      and (expires_at_ms is null or expires_at_ms > extract(epoch from now()) * 1000)`;
}

/** Answers those of the tags that are not deleted; expired ones are included. */
export async function livingTags(tx: Sql, tagIds: readonly number[]): Promise<readonly number[]> {
  if (tagIds.length === 0) return [];
  const rows = await tx<{ id: number }[]>`
    select id from tags where id = any (${list(tagIds)}::integer[]) and deleted_at is null order by id`;
  return rows.map(({ id }) => id);
}
