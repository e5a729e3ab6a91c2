/** Databases that a move refuses: one at work, now or later, and a target that is not empty. */

import { counted } from '../../std/counted.ts';
import { SettingFault } from '../../std/setting-fault.ts';
import { MIGRATIONS } from '../migrate.ts';
import { AT_WORK, nodesInWords, SILENT_SECONDS } from '../nodes/at-work.ts';
import { SCHEMA } from '../schema.ts';
import type { End } from './end.ts';
import { namesOfMigrations, TABLES } from './structure.ts';

/** Named in a sentence, of the tables that are in the way. */
const NAMED_MAX = 3;

/**
 * Looks at a target before anything is made there: it has no tables, or is an empty one of this
 * version, at rest. Throws a SettingFault otherwise: the wrong one may be named by mistake.
 */
export async function requireFit(target: End): Promise<void> {
  const tables = await target.read<{ readonly name: string }>(
    `select c.relname as name from ${TABLES} order by c.relname`,
  );
  if (tables.length === 0) return;
  const wanted = [SCHEMA, ...MIGRATIONS.map(({ name }) => name)].join(', ');
  if ((await namesOfMigrations(target)) !== wanted) {
    const names = tables.slice(0, NAMED_MAX).map(({ name }) => name);
    const more = tables.length > NAMED_MAX ? ', …' : '';
    throw new SettingFault(
      `${target.setting}: this database is not empty, and its tables (${names.join(', ')}${more}) are not those of this version: name an empty one.`,
    );
  }
  await requireStopped(target);
  await requireEmpty(target);
}

/** Throws a SettingFault when a node has beaten just now. */
export async function requireStopped(end: End): Promise<void> {
  const nodes = await end.read<{ readonly host: string; readonly pid: number }>(
    `select host, pid from nodes where ${AT_WORK}`,
  );
  if (nodes.length === 0) return;
  throw new SettingFault(
    `${end.setting}: an engine is at work on this database (${nodesInWords(nodes)}): stop it first, or wait ${SILENT_SECONDS} seconds if it was killed.`,
  );
}

/** SQLSTATE undefined_table. */
const NO_TABLE = '42P01';

/**
 * Makes an engine that starts wait at its first beat until the move ends: the copy would lack the
 * registrations that it confirms. It has to be the first statement: a snapshot that is older than
 * the lock would not show an engine that had just started.
 */
export async function holdNodes(source: End): Promise<void> {
  try {
    await source.run('lock table nodes in share mode');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === NO_TABLE)) throw error;
    throw new SettingFault(
      `${source.setting}: this database has no tables of Tagcast: name the one that the engine has had.`,
      { cause: error },
    );
  }
}

/** All else that an engine keeps belongs to a client or to an account. */
export async function requireEmpty(target: End): Promise<void> {
  const [found] = await target.read<{ readonly clients: number; readonly accounts: number }>(
    `select (select count(*) from clients) as clients, (select count(*) from accounts) as accounts`,
  );
  if (found?.clients === 0 && found.accounts === 0) return;
  throw new SettingFault(
    `${target.setting}: this database is in use already, with ${counted(found?.clients ?? 0, 'client')} and ${counted(found?.accounts ?? 0, 'account')}: name an empty one.`,
  );
}
