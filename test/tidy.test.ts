/**
 * Checks properties of the code itself: who may import whom, and that every test sits beside the
 * shape of its source. The table below is the architecture; change it
 * in the same commit as the decision that changes it.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import t from 'tap';

/** From dist/test back to the root of the repository. */
const ROOT = join(import.meta.dirname, '..', '..');

/** Each folder of src, lowest first, and the folders it may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  std: [],
  domain: ['std'],
  telemetry: ['std'],
  http2: ['std'],
  store: ['domain', 'std', 'telemetry'],
  'tag-index': ['store', 'domain', 'std', 'telemetry'],
  senders: ['http2', 'domain', 'std', 'telemetry'],
  outcomes: ['tag-index', 'store', 'domain', 'std', 'telemetry'],
  registration: ['tag-index', 'store', 'domain', 'std', 'telemetry'],
  'fan-out': ['senders', 'outcomes', 'tag-index', 'store', 'domain', 'std', 'telemetry'],
  access: ['store', 'domain', 'std', 'telemetry'],
  http: [
    'access',
    'registration',
    'fan-out',
    'outcomes',
    'tag-index',
    'store',
    'domain',
    'std',
    'telemetry',
  ],
  simulator: ['http2', 'domain', 'std'],
  transfer: ['domain', 'std'],
  cli: [
    'access',
    'registration',
    'transfer',
    'tag-index',
    'store',
    'simulator',
    'http2',
    'domain',
    'std',
    'telemetry',
  ],
};

/** Tests that stand for the whole system rather than for one source file. */
const TESTS_WITHOUT_TWIN = ['tidy', 'contract', 'end-to-end', 'http2/conversations', 'support'];

/** What an executable file begins with. */
const SHEBANG = /^#!.*\n/;

const listSources = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .sort();

const readSource = (file: string): string => readFileSync(join(ROOT, 'src', file), 'utf8');

/** The top folder of a path, or '' for the composition root files that lie in src itself. */
const folderOf = (file: string): string => (file.includes(sep) ? (file.split(sep)[0] ?? '') : '');

t.test('every import goes down the table', (t) => {
  for (const file of listSources('src')) {
    const from = folderOf(file);
    if (from === '') continue;
    for (const [, target = ''] of readSource(file).matchAll(/(?:from |import\(\s*)'(\.[^']+)'/g)) {
      const to = folderOf(normalize(join(dirname(file), target)));
      const allowed = to === from || (MAY_IMPORT[from] ?? []).includes(to);
      t.ok(allowed, `${file} may import ${to === '' ? target : `${to}/`}`);
    }
  }
  t.end();
});

t.test(
  'the command line itself is light: packages are loaded with the command that needs them',
  (t) => {
    for (const main of ['main.ts', 'cli/client.ts']) {
      const reached = new Set([main]);
      for (const file of reached) {
        const imports = readSource(file).matchAll(/^import (?!type )[^;]*?'([^']+)';/gm);
        for (const [, target = ''] of imports) {
          if (target.startsWith('.')) reached.add(normalize(join(dirname(file), target)));
          else
            t.ok(target.startsWith('node:'), `${file} imports ${target}, on the way from ${main}`);
        }
      }
      t.ok(reached.size > 1, `${main} imports something`);
    }
    t.end();
  },
);

t.test('every file opens with why it exists', (t) => {
  for (const file of listSources('src')) {
    t.ok(
      readSource(file).replace(SHEBANG, '').startsWith('/**'),
      `${file} opens with a doc comment`,
    );
  }
  t.end();
});

/** What a test mirrors: the file of its name, or, when a file has tests by subject, the file that their folder is named after. */
function hasTwin(test: string): boolean {
  const path = join(ROOT, 'src', test.slice(0, -'.test.ts'.length));
  return [`${path}.ts`, `${path}.mjs`, `${dirname(path)}.ts`].some((twin) => existsSync(twin));
}

t.test('every test mirrors one source file', (t) => {
  for (const file of listSources('test').filter((file) => file.endsWith('.test.ts'))) {
    if (TESTS_WITHOUT_TWIN.some((name) => file.startsWith(name))) continue;
    t.ok(hasTwin(file), `test/${file} mirrors a file of src`);
  }
  t.end();
});
