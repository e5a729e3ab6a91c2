/** Which test files are about what git reports as changed. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { readImportGraph } from '../import-graph.ts';
import { DIST, ROOT } from './select.ts';

/** Files that are read, not imported, and the tests that read them. */
const READERS: readonly (readonly [path: RegExp, tests: RegExp])[] = [
  [/^console\//, /^test\/console\//],
  [/^(docs|config)\/|\.md$/, /^test\/documents\//],
  [/\.ts$/, /^test\/tidy/],
];

/** Changed files of the work tree, against the last commit; paths of built files from the root. */
export function changedTestFiles(): ReadonlySet<string> {
  const changed = git('diff', '--name-only', 'HEAD').concat(
    git('ls-files', '--others', '--exclude-standard'),
  );
  return testFilesFor(changed);
}

export function testFilesFor(changed: readonly string[]): ReadonlySet<string> {
  const graph = readImportGraph(DIST);
  const tests = graph.files.filter((file) => file.endsWith('.test.js'));
  const found = new Set<string>();
  for (const path of changed) {
    const built = path.replace(/\.ts$/, '.js');
    if (built.endsWith('.test.js')) found.add(built);
    for (const importer of graph.importersOf(built)) {
      if (importer.endsWith('.test.js')) found.add(importer);
    }
    for (const [pattern, readers] of READERS) {
      if (pattern.test(path)) for (const file of tests) if (readers.test(file)) found.add(file);
    }
  }
  return new Set([...found].map((file) => join('dist', file)));
}

function git(...args: readonly string[]): readonly string[] {
  const { stdout, status, stderr } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.split('\n').filter((line) => line !== '');
}
