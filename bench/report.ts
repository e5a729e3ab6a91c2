/** Prints rows as a table that is also Markdown. */

import type { Ratios, Row } from './scenario.ts';

export function printTable(rows: readonly (Row | Ratios)[]): void {
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first);
  const cells = [columns, ...rows.map((row) => columns.map((column) => format(row[column])))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => line[i]?.length ?? 0)));
  const print = (line: readonly string[]): void =>
    console.log(`| ${line.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`);
  const [head = [], ...body] = cells;
  print(head);
  print(widths.map((width) => '-'.repeat(width)));
  for (const line of body) print(line);
}

function format(value: string | number | null | undefined): string {
  if (typeof value !== 'number') return value ?? '';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return value.toFixed(value < 10 ? 2 : 1);
}
