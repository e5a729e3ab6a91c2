/** Finds the jobs whose audience shows a personal value of each device that they concern. */

import { findAttributes } from '../../attributes/find-attributes.ts';
import type { Sql } from '../../database/sql.ts';
import { list } from '../../database/sql.ts';
import type { AskedAudience, AskedTest } from '../../domain/asked-audience.ts';
import { askedTestsOf } from '../../domain/asked-audience.ts';
import type { Attribute } from '../../domain/attributes.ts';
import { storedAudience } from './notifications/terms.ts';

/** Those of these jobs that test a personal attribute, or one that was deleted. */
export async function personalJobs(
  sql: Sql,
  clientId: number,
  notificationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (notificationIds.length === 0) return new Set();
  const rows = await sql<{ readonly id: string; readonly audience: AskedAudience }[]>`
    select n.id, ${storedAudience(sql)} as audience
    from notifications n
    where n.id = any (${list([...new Set(notificationIds)])}::uuid[]) and n.client_id = ${clientId}
      and n.audience_condition is not null`;
  const tested = rows.map(({ id, audience }) => ({ id, tests: askedTestsOf(audience) }));
  if (tested.every(({ tests }) => tests.length === 0)) return new Set();
  const attributes = await findAttributes(sql, clientId);
  const personal = tested.filter(({ tests }) =>
    tests.some((test) => mayBePersonal(test, attributes)),
  );
  return new Set(personal.map(({ id }) => id));
}

/** Whether it tests a personal attribute. One that was deleted may have been personal. */
export function mayBePersonal(
  { subject }: Pick<AskedTest, 'subject'>,
  attributes: Iterable<Attribute>,
): boolean {
  // The built-in ones have negative ids.
  if (typeof subject !== 'number' || subject < 0) return false;
  return [...attributes].find(({ id }) => id === subject)?.isPersonal ?? true;
}
