/** The graph of a small tree, with each way in which one file names another. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { readImportGraph } from './import-graph.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const FILES: Readonly<Record<string, string>> = {
  'src/std/low.js': 'export const low = 1;',
  'src/middle.js': "import { low } from './std/low.js';\nexport const middle = low;",
  'src/again.js': "export { middle } from './middle.js';",
  'src/lazy.js': "export const load = () => import('./middle.js');",
  'src/worker/entry.js': "import '../middle.js';",
  'src/thread.js': "new Worker(new URL('../src/worker/entry.js', import.meta.url));",
  'src/program.js': "import './lazy.js';",
  'test/support/processes.js':
    "export const MAIN = join(import.meta.dirname, '..', '..', 'src', 'program.js');",
  'test/support/bench.js': "const RUN = join(import.meta.dirname, '../../bench/begin.js');",
  'test/other.test.js': "import '../src/std/low.js';",
  'test/std/low.test.js': "import {\n  low,\n} from '../../src/std/low.js';",
  'test/started.test.js': "import { MAIN } from './support/processes.js';",
  'test/thread.test.js': "import { start } from '../src/thread.js';",
  'bench/begin.js': "import { again } from '../src/again.js';",
  'console/page.js': "import '../src/std/low.js';",
};

t.test('it goes from a file to all that import it, nearest first', (t) => {
  const dist = temporaryDirectory(t);
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(dist, file)), { recursive: true });
    writeFileSync(join(dist, file), text);
  }
  const graph = readImportGraph(dist);
  t.strictSame(graph.importersOf('src/std/low.js'), [
    // The first shares a folder with the file.
    ...['test/std/low.test.js', 'src/middle.js', 'test/other.test.js'],
    ...['src/again.js', 'src/lazy.js', 'src/worker/entry.js'],
    ...['bench/begin.js', 'src/program.js', 'src/thread.js'],
    ...['test/support/bench.js', 'test/support/processes.js', 'test/thread.test.js'],
    'test/started.test.js',
  ]);
  t.strictSame(graph.importersOf('test/thread.test.js'), []);
  t.strictSame(graph.importersOf('src/gone.js'), []);
  t.end();
});

t.test('files that import each other are reached once', (t) => {
  const dist = temporaryDirectory(t);
  mkdirSync(join(dist, 'src'));
  writeFileSync(join(dist, 'src', 'a.js'), "import './b.js';");
  writeFileSync(join(dist, 'src', 'b.js'), "import './a.js';");
  t.strictSame(readImportGraph(dist).importersOf('src/a.js'), ['src/b.js']);
  t.end();
});
