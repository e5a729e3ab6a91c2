/** Functions that one reads at a glance, statements of SQL in them included. */

import { readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { parse } from 'acorn';
import t from 'tap';

const DIST = join(import.meta.dirname, '..', 'src');
const LINES_MAX = 70;

interface Place {
  readonly line: number;
  readonly column: number;
}

interface Node {
  readonly type: string;
  readonly loc: { readonly start: Place; readonly end: Place };
}

/** A function of the built code, by its lines in the source: from its name to its last brace. */
interface Measured {
  readonly line: number;
  readonly lines: number;
}

function functionsOf(file: string): readonly Measured[] {
  const map = new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
  const tree = parse(readFileSync(file, 'utf8'), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
  });
  const lineOf = ({ line, column }: Place): number => {
    const entry = map.findEntry(line - 1, column);
    return 'originalLine' in entry ? entry.originalLine + 1 : 0;
  };
  return [...functionsIn(tree)].map(({ loc: { start, end } }) => {
    const line = lineOf(start);
    return { line, lines: lineOf({ ...end, column: end.column - 1 }) - line + 1 };
  });
}

function* functionsIn(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && /Function/.test(String(value.type))) yield value as Node;
  for (const [key, child] of Object.entries(value)) if (key !== 'loc') yield* functionsIn(child);
}

t.test(`no function is longer than ${LINES_MAX} lines`, (t) => {
  let longest = 0;
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((name) => name.endsWith('.js'))) {
    for (const { line, lines } of functionsOf(join(DIST, name))) {
      longest = Math.max(longest, lines);
      if (lines > LINES_MAX) t.fail(`src/${name.replace(/js$/, 'ts')}:${line} has ${lines} lines`);
    }
  }
  t.ok(longest > LINES_MAX / 2, `the longest has ${longest}`);
  t.end();
});
