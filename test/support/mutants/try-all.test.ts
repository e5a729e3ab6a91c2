/** All mutants of a small checkout, with real runs of its tests. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { searchPath } from '../environment.ts';
import type { Lifetime } from '../lifetime.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { chooseMutants } from './mutants.ts';
import { summary, toJson } from './report.ts';
import { tryAll } from './try-all.ts';

const MAP = '{"version":3,"sources":[],"names":[],"mappings":""}';
const LIMIT = 'export const isOver = (value) => value > 10;\n';
const CHECKOUT: Readonly<Record<string, string>> = {
  'package.json': '{"type":"module"}',
  'dist/src/limit.js': LIMIT,
  'dist/src/limit.js.map': MAP,
  'dist/src/double.js': 'export const double = (value) => value * 2;\n',
  'dist/src/double.js.map': MAP,
  'dist/src/database/migrations/0001.js': 'export const version = 1;\n',
  'dist/test/limit.test.js': `import { isOver } from '../src/limit.js';
    import '../src/double.js';
    if (isOver(10) || !isOver(11)) throw new Error('wrong');`,
  'dist/test/broken.test.js': "import '../src/double.js';\nthrow new Error('always');",
  'dist/test/support/run.js': `import { resolve } from 'node:path';
    for (const file of process.argv.slice(2).filter((one) => !one.startsWith('--'))) {
      const failed = await import(resolve(file)).then(() => false, () => true);
      console.log(failed ? 'not ok 1 - ' + file : 'ok 1 - ' + file);
      if (failed) process.exitCode = 1;
    }`,
};
const EVERYTHING = { seed: 7, count: 100, only: '' };

function makeCheckout(t: Lifetime): string {
  const root = temporaryDirectory(t);
  for (const [file, text] of Object.entries(CHECKOUT)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

t.test('the same seed makes the same mutants', (t) => {
  const dist = join(makeCheckout(t), 'dist');
  const mutants = chooseMutants(dist, EVERYTHING);
  t.strictSame(mutants, chooseMutants(dist, EVERYTHING));
  t.strictSame(mutants.map(({ place }) => place).sort(), [
    ...['src/double.ts:1', 'src/double.ts:1'],
    ...['src/limit.ts:1', 'src/limit.ts:1'],
  ]);
  t.equal(chooseMutants(dist, { ...EVERYTHING, only: 'limit' }).length, 2);
  t.end();
});

t.test('what a test checks is noticed, what it only imports is not', async (t) => {
  const root = makeCheckout(t);
  const progress: string[] = [];
  const { tried, failing } = await tryAll({
    ...EVERYTHING,
    root,
    parent: temporaryDirectory(t),
    budgetMs: 60_000,
    environment: { PATH: searchPath },
    signal: new AbortController().signal,
    onTried: ({ mutant }) => progress.push(mutant.place),
  });
  const outcomes = tried.map(({ mutant, verdict }) => [mutant.changed, verdict.kind]);
  t.strictSame(Object.fromEntries(outcomes), {
    'export const isOver = (value) => value >= 10;': 'noticed',
    'export const isOver = (value) => value > 11;': 'noticed',
    'export const double = (value) => value / 2;': 'unnoticed',
    'export const double = (value) => value * 3;': 'unnoticed',
  });
  t.strictSame([...failing], ['test/broken.test.js'], 'it fails without any change');
  t.equal(progress.length, tried.length);
  t.equal(readFileSync(join(root, 'dist/src/limit.js'), 'utf8'), LIMIT, 'nothing is changed here');

  const text = summary(tried, failing);
  t.match(text, /\+ export const double = \(value\) => value \* 3;/);
  t.match(text, /2 of 4 noticed \(50 %\)\n$/);
  t.equal(JSON.parse(toJson(tried, failing)).mutants.length, 4);
});

t.test('an interruption leaves no mutant half tried', async (t) => {
  const { tried } = await tryAll({
    ...EVERYTHING,
    root: makeCheckout(t),
    parent: temporaryDirectory(t),
    budgetMs: 60_000,
    environment: { PATH: searchPath },
    signal: AbortSignal.abort(),
    onTried: () => t.fail('none was tried to its end'),
  });
  t.strictSame(tried, []);
});
