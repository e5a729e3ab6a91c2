/** Tries the chosen mutants of a checkout, one after another. */

import { join } from 'node:path';
import { readImportGraph } from '../import-graph.ts';
import { copyCheckout } from './checkout-copy.ts';
import { chooseMutants } from './mutants.ts';
import type { Tried } from './report.ts';
import type { TestRun } from './run-tests.ts';
import { runTests } from './run-tests.ts';
import { tryMutant } from './try-mutant.ts';

export interface Trial {
  /** The checkout, in which nothing is changed. */
  readonly root: string;
  /** Where the copy goes. */
  readonly parent: string;
  readonly seed: number;
  readonly count: number;
  readonly only: string;
  readonly budgetMs: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onTried: (tried: Tried, total: number) => void;
}

export interface Outcome {
  readonly tried: readonly Tried[];
  /** Test files that fail without any change. */
  readonly failing: ReadonlySet<string>;
}

/** Ends early when it is interrupted, with those that were tried until then. */
export async function tryAll(trial: Trial): Promise<Outcome> {
  const { root, parent, budgetMs, environment, signal, onTried } = trial;
  const dist = join(root, 'dist');
  const mutants = chooseMutants(dist, trial);
  const graph = readImportGraph(dist);
  const copy = copyCheckout(root, parent);
  const failing = new Set<string>();
  const passing = new Set<string>();
  const tried: Tried[] = [];
  const run = async (files: readonly string[], limitMs: number): Promise<TestRun> => {
    const result = await runTests({
      folder: copy.folder,
      files,
      limitMs,
      environment: { ...environment, TMPDIR: copy.emptyTemporary() },
      signal,
    });
    signal.throwIfAborted();
    return result;
  };
  try {
    for (const mutant of mutants) {
      const begun = performance.now();
      const verdict = await tryMutant(mutant, {
        graph,
        budgetMs,
        failing,
        passing,
        run,
        ...copy,
      });
      const seconds = Math.round((performance.now() - begun) / 1_000);
      tried.push({ mutant, verdict, seconds });
      onTried({ mutant, verdict, seconds }, mutants.length);
    }
  } catch (error) {
    // Nothing is known of the mutant that it was at.
    if (!signal.aborted) throw error;
  } finally {
    copy.remove();
  }
  return { tried, failing };
}
