/** Accounts of people: found by e-mail, made, given a password. */

import type { Sql } from '../../database/sql.ts';
import { textList } from '../../database/sql.ts';

export interface AccountRow {
  readonly id: number;
  readonly email: string;
  /** Null: it has none yet. */
  readonly passwordHash: string | null;
  readonly isOperator: boolean;
}

export async function findAccount(sql: Sql, email: string): Promise<AccountRow | null> {
  const [row] = await sql<AccountRow[]>`
    select id, email, password_hash as "passwordHash", is_operator as "isOperator"
    from accounts where email = ${email}`;
  return row ?? null;
}

export const findAccounts = (sql: Sql, emails: readonly string[]): Promise<readonly AccountRow[]> =>
  sql<AccountRow[]>`
    select id, email, password_hash as "passwordHash", is_operator as "isOperator"
    from accounts where email = any(${textList(emails)}::text[])`;

export async function readAccount(sql: Sql, id: number): Promise<AccountRow | null> {
  const [row] = await sql<AccountRow[]>`
    select id, email, password_hash as "passwordHash", is_operator as "isOperator"
    from accounts where id = ${id}`;
  return row ?? null;
}

/** Answers its id, or null when another account has the e-mail. */
export async function insertAccount(
  sql: Sql,
  { email, passwordHash }: Pick<AccountRow, 'email' | 'passwordHash'>,
): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`
    insert into accounts (email, password_hash) values (${email}, ${passwordHash})
    on conflict (email) do nothing
    returning id`;
  return row?.id ?? null;
}

/** Changes of one account take turns: its sessions and its password belong together. */
export async function lockAccount(sql: Sql, id: number): Promise<void> {
  await sql`select 1 from accounts where id = ${id} for no key update`;
}

/** Null: no sign-in with a password until the account has one again. */
export async function writePassword(
  sql: Sql,
  id: number,
  passwordHash: string | null,
): Promise<void> {
  await sql`update accounts set password_hash = ${passwordHash} where id = ${id}`;
}

/** Answers whether there is such an account. */
export async function setOperator(sql: Sql, email: string, isOperator: boolean): Promise<boolean> {
  const rows = await sql`
    update accounts set is_operator = ${isOperator} where email = ${email} returning 1`;
  return rows.length > 0;
}

export interface ListedOperator {
  readonly email: string;
  readonly lastSignedInAtMs: number | null;
}

export const listOperators = (sql: Sql, limit: number): Promise<readonly ListedOperator[]> =>
  sql<ListedOperator[]>`
    select email, floor(extract(epoch from last_signed_in_at) * 1000)::float8 as "lastSignedInAtMs"
    from accounts where is_operator order by email limit ${limit}`;
