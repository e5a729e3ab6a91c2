/** Whether the tests notice a mutant: those that reach it run, nearest first. */

import type { ImportGraph } from '../import-graph.ts';
import type { Mutant } from './mutants.ts';
import type { TestRun } from './run-tests.ts';

/** The end of a mutant. */
export type Verdict =
  /**
   * Noticed by a test that fails, or by tests that crash or take far longer than without the
   * change.
   */
  | { readonly kind: 'noticed'; readonly by: string }
  /** All tests that reach it passed: so many files. */
  | { readonly kind: 'unnoticed'; readonly tests: number }
  /** The budget was spent: so many files passed, and so many had not ended. */
  | { readonly kind: 'out of time'; readonly tests: number; readonly left: number };

export interface Laboratory {
  readonly graph: ImportGraph;
  /** For the tests of one mutant. */
  readonly budgetMs: number;
  /** Test files that fail without any change, and say nothing of one. It grows. */
  readonly failing: Set<string>;
  /** Test files that have passed without any change. It grows. */
  readonly passing: Set<string>;
  change(file: string, text: string): void;
  restore(file: string): void;
  run(files: readonly string[], limitMs: number): Promise<TestRun>;
}

/** Mostly the nearest test fails, within a second or two. Later batches are this much larger. */
const FIRST_BATCH_FILES = 2;
const BATCH_GROWTH = 3;
const BATCH_FILES_MAX = 32;
/** A run that is cut counts as hanging when the same files pass in this part of its time. */
const HANGING_RATIO = 3;
/** For tests without a change: each of them takes less, whatever else the machine does. */
const UNCHANGED_LIMIT_MS = 300_000;

/** Runs the tests with the mutant in place, and restores the file. */
export async function tryMutant(mutant: Mutant, laboratory: Laboratory): Promise<Verdict> {
  laboratory.change(mutant.file, mutant.text);
  try {
    return await tryTests(mutant, laboratory);
  } finally {
    laboratory.restore(mutant.file);
  }
}

async function tryTests(mutant: Mutant, laboratory: Laboratory): Promise<Verdict> {
  const { graph, budgetMs, failing, run } = laboratory;
  let left = testsOf(mutant.file, graph).filter((file) => !failing.has(file));
  let size = FIRST_BATCH_FILES;
  let tests = 0;
  let spentMs = 0;
  while (left.length > 0) {
    if (spentMs >= budgetMs) return { kind: 'out of time', tests, left: left.length };
    const batch = left.slice(0, size);
    const begun = performance.now();
    const result = await run(batch, budgetMs - spentMs);
    const tookMs = performance.now() - begun;
    spentMs += tookMs;
    if (result.kind === 'passed') {
      tests += batch.length;
      left = left.slice(batch.length);
      size = Math.min(size * BATCH_GROWTH, BATCH_FILES_MAX);
      continue;
    }
    if (result.kind === 'cut') {
      const passed = batch.length - result.unfinished.length;
      const hanging = await noticedByHanging(mutant, laboratory, result.unfinished, tookMs);
      return hanging ?? { kind: 'out of time', tests: tests + passed, left: left.length - passed };
    }
    const suspects = result.kind === 'failed' ? [result.file] : batch;
    const cause = await findCause(mutant, laboratory, suspects);
    if (cause === 'change') return { kind: 'noticed', by: reasonOf(result.kind, suspects) };
    if (cause === 'chance') {
      tests += suspects.length;
      left = left.filter((file) => !suspects.includes(file));
    }
    left = left.filter((file) => !failing.has(file));
  }
  return { kind: 'unnoticed', tests };
}

/** Null: without the change they take nearly as long. */
async function noticedByHanging(
  mutant: Mutant,
  laboratory: Laboratory,
  files: readonly string[],
  tookMs: number,
): Promise<Verdict | null> {
  const unchanged = await runUnchanged(mutant, laboratory, files, tookMs / HANGING_RATIO);
  return unchanged.kind === 'passed' ? { kind: 'noticed', by: reasonOf('cut', files) } : null;
}

/** Why files failed: by themselves they fail again with the change, and pass without it, or not. */
async function findCause(
  mutant: Mutant,
  laboratory: Laboratory,
  files: readonly string[],
): Promise<'change' | 'chance' | 'file'> {
  const { budgetMs, failing, passing, run } = laboratory;
  const again = await run(files, budgetMs);
  if (again.kind === 'passed') return 'chance';
  if (files.every((file) => passing.has(file))) return 'change';
  const unchanged = await runUnchanged(mutant, laboratory, files, UNCHANGED_LIMIT_MS);
  if (unchanged.kind === 'passed') {
    for (const file of files) passing.add(file);
    return 'change';
  }
  for (const file of unchanged.kind === 'failed' ? [unchanged.file] : files) failing.add(file);
  return 'file';
}

/** The test of the file's own name comes first, of the others the nearest. */
function testsOf(file: string, graph: ImportGraph): readonly string[] {
  const twin = file.replace(/^src\//, 'test/').replace(/\.js$/, '.test.js');
  const tests = graph.importersOf(file).filter((name) => name.endsWith('.test.js'));
  return tests.includes(twin) ? [twin, ...tests.filter((name) => name !== twin)] : tests;
}

function reasonOf(kind: TestRun['kind'], [first = '', ...others]: readonly string[]): string {
  const files = others.length === 0 ? first : `${first} and ${others.length} more`;
  if (kind === 'cut') return `${files}, which did not end`;
  return kind === 'crashed' ? `${files}, which crashed` : files;
}

/** Without the change: what fails, crashes or takes as long then is no sign of it. */
async function runUnchanged(
  mutant: Mutant,
  { run, change, restore }: Laboratory,
  files: readonly string[],
  limitMs: number,
): Promise<TestRun> {
  restore(mutant.file);
  try {
    return await run(files, limitMs);
  } finally {
    change(mutant.file, mutant.text);
  }
}
