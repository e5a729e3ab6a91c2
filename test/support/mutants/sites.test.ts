/** The sites of a file that are changed, and those that are left alone. */

import { parse } from 'acorn';
import t from 'tap';
import { applySite, findSites } from './sites.ts';

const mutantsOf = (source: string): readonly string[] =>
  findSites(source).map((site) => applySite(source, site));

const CHANGED: readonly (readonly [source: string, ...mutants: string[]])[] = [
  ['a < b;', 'a <= b;'],
  ['a >= b;', 'a > b;'],
  ['a === b;', 'a !== b;'],
  ['(a) + (b);', '(a) - (b);'],
  ['a * b;', 'a / b;'],
  ['a += b;', 'a -= b;'],
  ['a && b;', 'a || b;'],
  ['x = 0;', 'x = 1;'],
  ['x = 1_000;', 'x = 1001;'],
  ['x = -1;', 'x = -2;'],
  ['x = { 1: true };', 'x = { 1: false };'],
  ['if (a) b();', 'if (!(a)) b();'],
  ['while (a) b();', 'while (!(a)) b();'],
  ['x = a ? b : c;', 'x = !(a) ? b : c;'],
  // The other operator would bind otherwise.
  ['a && b && c;', '(a || b) && c;', 'a && b || c;'],
  // Its negation is the same as its other operator.
  ['if (a === b) c();', 'if (a !== b) c();'],
  ['while (true) a();', 'while (false) a();'],
  ['export const a = 5;', 'export const a = 6;'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's.
  ['sql`limit ${count + 1}`;', 'sql`limit ${count - 1}`;', 'sql`limit ${count + 2}`;'],
];

t.test('each operator, constant and condition is changed by itself', (t) => {
  for (const [source, ...mutants] of CHANGED) t.strictSame(mutantsOf(source), mutants, source);
  t.end();
});

t.test('texts, log lines and names of other files are left alone', (t) => {
  const silent = [
    "import { a } from './a.js';",
    "export { a } from './a.js';",
    "x = 'at ' + (place + 1) + '.';",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's.
    'x = `at ${place + 1}`;',
    'class A { #log; b() { this.#log.warn({ count: count + 1 }, `there are 2`); } }',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's.
    'throw new RangeError(`above ${limit - 1}`, 2);',
    'x = a ?? b;',
  ];
  for (const source of silent) t.strictSame(mutantsOf(source), [], source);
  t.end();
});

t.test('every mutant is a program', (t) => {
  const source = `#!/usr/bin/env node
    export async function* all({ a = 1, ...rest }) {
      for await (const one of rest) if (one?.b >= 2 || (a && !one.c && one.d) || one.e) yield one;
      do { a **= 2; } while ((a < 9 && rest.f) ?? true);
      return class { #g = -0.5; static h = (i) => (i > 1 ? i / 2 : i - 1); };
    }`;
  const mutants = mutantsOf(source);
  t.equal(new Set(mutants).size, mutants.length, 'no two are the same');
  t.ok(mutants.length > 15, `there are ${mutants.length}`);
  for (const mutant of mutants) {
    t.doesNotThrow(() => parse(mutant, { ecmaVersion: 'latest', sourceType: 'module' }), mutant);
  }
  t.end();
});
