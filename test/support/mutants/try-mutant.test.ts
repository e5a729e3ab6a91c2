/** How many tests run for a mutant, and what their outcome says of it. */

import t from 'tap';
import type { TestRun } from './run-tests.ts';
import type { Laboratory } from './try-mutant.ts';
import { tryMutant } from './try-mutant.ts';

const MUTANT = {
  ...{ file: 'src/a.js', text: 'changed', place: 'src/a.ts:1' },
  ...{ original: '1', changed: '2' },
};
const PASSED: TestRun = { kind: 'passed' };

interface Scene {
  readonly laboratory: Laboratory;
  /** Each run: the files, and whether the change was in place. */
  readonly runs: (readonly [isChanged: boolean, ...files: string[]])[];
}

/** Runs of the tests have these outcomes, in turn; later ones pass. */
function makeScene(outcomes: readonly TestRun[], budgetMs = 60_000): Scene {
  const tests = ['test/b.test.js', 'src/b.js', 'test/a.test.js', 'test/c.test.js'];
  const left = [...outcomes];
  const runs: Scene['runs'] = [];
  let isChanged = false;
  return {
    runs,
    laboratory: {
      budgetMs,
      graph: { files: [], importersOf: () => tests },
      failing: new Set(),
      passing: new Set(),
      change: () => {
        isChanged = true;
      },
      restore: () => {
        isChanged = false;
      },
      run(files) {
        runs.push([isChanged, ...files]);
        return Promise.resolve(left.shift() ?? PASSED);
      },
    },
  };
}

t.test('tests run in batches, the one of the same name first', async (t) => {
  const { laboratory, runs } = makeScene([]);
  t.strictSame(await tryMutant(MUTANT, laboratory), { kind: 'unnoticed', tests: 3 });
  t.strictSame(runs, [
    [true, 'test/a.test.js', 'test/b.test.js'],
    [true, 'test/c.test.js'],
  ]);
});

const FAILED: TestRun = { kind: 'failed', file: 'test/b.test.js' };
const CRASHED: TestRun = { kind: 'crashed' };

t.test('a test has noticed it that fails again with it, and passes without', async (t) => {
  const { laboratory, runs } = makeScene([FAILED, FAILED, PASSED, FAILED, FAILED]);
  const noticed = { kind: 'noticed', by: 'test/b.test.js' } as const;
  t.strictSame(await tryMutant(MUTANT, laboratory), noticed);
  t.strictSame(runs.slice(1), [
    [true, 'test/b.test.js'],
    [false, 'test/b.test.js'],
  ]);
  t.strictSame(await tryMutant(MUTANT, laboratory), noticed);
  t.strictSame(runs.slice(4), [[true, 'test/b.test.js']], 'that it passes without is known');
});

t.test('a test that failed by chance has noticed nothing', async (t) => {
  const { laboratory, runs } = makeScene([FAILED, PASSED]);
  t.strictSame(await tryMutant(MUTANT, laboratory), { kind: 'unnoticed', tests: 3 });
  t.strictSame(runs.slice(2), [[true, 'test/a.test.js', 'test/c.test.js']]);
});

t.test('a test that fails without the change, too, is left out', async (t) => {
  const { laboratory, runs } = makeScene([FAILED, FAILED, FAILED]);
  t.strictSame(await tryMutant(MUTANT, laboratory), { kind: 'unnoticed', tests: 2 });
  t.strictSame([...laboratory.failing], ['test/b.test.js']);
  t.strictSame(runs.slice(3), [[true, 'test/a.test.js', 'test/c.test.js']]);
});

t.test('tests that crash have noticed it', async (t) => {
  const { laboratory } = makeScene([CRASHED, CRASHED]);
  const by = 'test/a.test.js and 1 more, which crashed';
  t.strictSame(await tryMutant(MUTANT, laboratory), { kind: 'noticed', by });
});

t.test('tests that end far sooner without the change have noticed it', async (t) => {
  const cut: TestRun = { kind: 'cut', unfinished: ['test/b.test.js'] };
  const { laboratory } = makeScene([cut]);
  const by = 'test/b.test.js, which did not end';
  t.strictSame(await tryMutant(MUTANT, laboratory), { kind: 'noticed', by });
});

t.test('tests that take long without the change, too, were out of time', async (t) => {
  const cut: TestRun = { kind: 'cut', unfinished: ['test/b.test.js'] };
  const { laboratory } = makeScene([cut, cut]);
  t.strictSame(await tryMutant(MUTANT, laboratory), { kind: 'out of time', tests: 1, left: 2 });
});

t.test('no further batch begins when the budget is spent', async (t) => {
  const { laboratory, runs } = makeScene([], 0);
  t.strictSame(await tryMutant(MUTANT, laboratory), { kind: 'out of time', tests: 0, left: 3 });
  t.strictSame(runs, []);
});
