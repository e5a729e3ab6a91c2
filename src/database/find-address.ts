/** Finds how to connect to a PostgreSQL, and whether its sessions are as the engine needs them. */

import { SettingFault } from '../std/setting-fault.ts';
import { WANTED_SETTINGS } from './session-settings.ts';
import type { DatabaseAddress, Sql } from './sql.ts';
import { connect } from './sql.ts';

/** Matches a pooler's refusal of a setting that it does not pass on, as PgBouncer words it. */
const REFUSED_BY_POOLER = /startup parameter/i;
const CLOSE_TIMEOUT_SECONDS = 1;

/** How connections to the database are made: with our settings, unless a pooler refuses these. */
export async function findAddress(url: string): Promise<DatabaseAddress> {
  const address = { kind: 'postgres', url } as const;
  const sql = connect(address, 1);
  try {
    await sql`select`;
    return address;
  } catch (error) {
    if (!(error instanceof Error && REFUSED_BY_POOLER.test(error.message))) throw error;
    return { ...address, isWithoutSettings: true };
  } finally {
    await sql.end({ timeout: CLOSE_TIMEOUT_SECONDS });
  }
}

/** Refuses a database whose sessions have other settings all the same. */
export async function checkSessionSettings(sql: Sql): Promise<void> {
  const rows = await sql<{ name: string; setting: string }[]>`
    select name, setting from pg_settings where name = any (${Object.keys(WANTED_SETTINGS)}::text[])`;
  const other = rows.filter(
    ({ name, setting }) => WANTED_SETTINGS[name]?.isGood(setting) === false,
  );
  if (other.length === 0) return;
  const found = other.map(({ name, setting }) => `${name} is '${setting}'`).join(', ');
  const orders = other.map(
    ({ name }) => `ALTER DATABASE … SET ${name} = '${WANTED_SETTINGS[name]?.value}';`,
  );
  throw new SettingFault(
    `DATABASE_URL: ${found}, and the pooler in between does not pass on what the engine sets. Set it in the database: ${orders.join(' ')}`,
  );
}
