/**
 * The same scenario of two checkouts in turns, so that what the machine does beside falls on both.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from '../test/support/lifetime.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** A machine that grows slower from turn to turn is as slow for both in the mean. */
const TURNS = ['before', 'now', 'now', 'before'] as const;

type Side = (typeof TURNS)[number];

/** A figure of both sides, the mean of its turns; null: one of them has no such figure. */
export interface Compared {
  readonly [column: string]: string | number | null;
  readonly figure: string;
  readonly before: number | null;
  readonly now: number | null;
  readonly nowOverBefore: number | null;
}

/**
 * Runs a scenario of this checkout and of the one in the folder `before`, each by its own bench
 * with its own stores, and compares what they measured. The other checkout has to be
 * installed and built: `npm run build` there.
 */
export async function compare(
  stage: Lifetime,
  scenario: string,
  before: string,
): Promise<readonly Compared[]> {
  const folders: Readonly<Record<Side, string>> = { before, now: ROOT };
  const seen: Record<Side, Map<string, number>[]> = { before: [], now: [] };
  for (const side of TURNS) {
    console.log(`(${side}: ${scenario} of ${folders[side]})`);
    seen[side].push(await runOf(stage, folders[side], scenario));
  }
  const names = new Set(TURNS.flatMap((side) => seen[side].flatMap((turn) => [...turn.keys()])));
  return [...names].map((figure) => {
    const [old, present] = [meanOf(seen.before, figure), meanOf(seen.now, figure)];
    const nowOverBefore = old === null || present === null || old === 0 ? null : present / old;
    return { figure, before: old, now: present, nowOverBefore };
  });
}

async function runOf(
  stage: Lifetime,
  folder: string,
  scenario: string,
): Promise<Map<string, number>> {
  const program = join(folder, 'dist', 'bench', 'run.js');
  if (!existsSync(program)) throw new Error(`${folder} is not built: run \`npm run build\` there`);
  const results = mkdtempSync(join(tmpdir(), 'tagcast-beside-'));
  stage.teardown(() => rmSync(results, { recursive: true, force: true }));
  const file = join(results, 'results.json');
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', program, scenario, `--json=${file}`],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  stage.teardown(() => child.kill('SIGTERM'));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${scenario} of ${folder} ended with ${code}`);
  return figuresOf(JSON.parse(readFileSync(file, 'utf8')));
}

/** Every number of a results' file, by the words of its row or its name. */
function figuresOf(value: unknown, name = '', found = new Map<string, number>()) {
  if (typeof value === 'number') found.set(name, value);
  if (Array.isArray(value)) {
    for (const row of value) figuresOf(row, labelOf(row), found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      if (!LABELS.has(key)) figuresOf(part, name === '' ? key : `${name} ${key}`, found);
    }
  }
  return found;
}

/** Numbers that identify rows. */
const LABELS = new Set(['connections', 'devices', 'tags']);

const labelOf = (row: object): string =>
  Object.entries(row)
    .filter(([key, value]) => typeof value === 'string' || LABELS.has(key))
    .map(([, value]) => String(value))
    .join(' ');

function meanOf(turns: readonly ReadonlyMap<string, number>[], figure: string): number | null {
  const values = turns.flatMap((turn) => turn.get(figure) ?? []);
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value) / values.length;
}
