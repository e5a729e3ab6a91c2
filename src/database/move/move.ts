/**
 * Moves all rows from one database to an empty one. The caller's two transactions make it all or
 * nothing: until the target's commit it is as empty as before (decision 69).
 */

import { SettingFault } from '../../std/setting-fault.ts';
import type { End } from './end.ts';
import { requireEmpty, requireStopped } from './refusals.ts';
import type { Table } from './structure.ts';
import {
  columnsOf,
  commonTables,
  moveSequences,
  quotedName,
  withoutTriggers,
} from './structure.ts';

/** In their order. */
export type MoveStep = 'look' | 'prepare' | 'copy' | 'compare' | 'connect' | 'commit';

export interface MoveReport {
  /** Called before each step. */
  step(step: MoveStep): void;
  /** Called after each piece. */
  copied(rows: number, total: number): void;
}

export interface Moved {
  readonly tables: number;
  readonly rows: number;
}

/**
 * A mebibyte is some thousand devices. Those with the large values of the rows count, too: in each
 * table as many for a row.
 * @limit pages of 8 KiB that `store move` reads and writes at a time, on average
 */
const PIECE_PAGES = 512;

/** Throws a SettingFault when one of them is in use, the target has clients, or a row differs. */
export async function moveRows(source: End, target: End, report: MoveReport): Promise<Moved> {
  report.step('look');
  const tables = await commonTables(source, target);
  const names = tables.map(({ name }) => quotedName(name)).join(', ');
  await target.run(`lock table ${names} in access exclusive mode`);
  for (const end of [source, target]) await requireStopped(end);
  await requireEmpty(target);

  report.step('prepare');
  const counts = await countRows(source, tables);
  await withoutTriggers(target, tables, async () => {
    // A new database has some rows that are there once, and a started one its marks.
    await target.run(`truncate ${names}`);
    report.step('copy');
    await copyTables(source, target, tables, counts, report);
    await moveSequences(source, target);
    report.step('compare');
    for (const table of tables) await compare(source, target, table);
    report.step('connect');
  });
  return { tables: tables.length, rows: sum(counts.values()) };
}

/** In each table, for the progress. */
async function countRows(
  source: End,
  tables: readonly Table[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of tables) {
    const [row] = await source.read<{ readonly rows: number }>(
      `select count(*) as rows from ${quotedName(name)}`,
    );
    counts.set(name, row?.rows ?? 0);
  }
  return counts;
}

async function copyTables(
  source: End,
  target: End,
  tables: readonly Table[],
  counts: ReadonlyMap<string, number>,
  report: MoveReport,
): Promise<void> {
  const total = sum(counts.values());
  let before = 0;
  for (const table of tables) {
    const rows = counts.get(table.name) ?? 0;
    for await (const share of copyTable(source, target, table)) {
      report.copied(before + Math.round(rows * share), total);
    }
    before += rows;
  }
}

/**
 * Copies a range of the table's file at a time, for which no index is needed: memory depends on the
 * size of rows, not on their number. Yields the share that is done.
 */
async function* copyTable(source: End, target: End, table: Table): AsyncGenerator<number> {
  const columns = columnsOf(table);
  const name = quotedName(table.name);
  const step = Math.max(1, Math.floor(PIECE_PAGES * table.share));
  for (let page = 0; page < table.pages; page += step) {
    const end = page + step;
    const rows = await source.copyOut(
      `select ${columns} from ${name} where ctid >= '(${page},0)' and ctid < '(${end},0)'`,
    );
    await target.copyIn(`${name} (${columns})`, rows);
    yield Math.min(1, end / table.pages);
  }
}

interface Digest {
  readonly rows: string;
  readonly sum: string;
}

/** A sum over all rows, in whatever order, of 64 bits of the digest of each one's text. */
async function digest(end: End, table: Table): Promise<Digest> {
  const [row] = await end.read<Digest>(`
    select count(*)::text as rows,
      coalesce(sum(('x' || left(md5(row(${columnsOf(table)})::text), 16))::bit(64)::bigint), 0)::text as sum
    from ${quotedName(table.name)}`);
  if (row === undefined) throw new Error(`${table.name} was not counted`);
  return row;
}

async function compare(source: End, target: End, table: Table): Promise<void> {
  const [theirs, ours] = await Promise.all([digest(source, table), digest(target, table)]);
  if (theirs.rows === ours.rows && theirs.sum === ours.sum) return;
  throw new SettingFault(
    `${target.setting}: table ${table.name} differs from its source after the copy (${theirs.rows} and ${ours.rows} rows): nothing was moved. Please report it.`,
  );
}

const sum = (numbers: Iterable<number>): number =>
  [...numbers].reduce((total, number) => total + number, 0);
