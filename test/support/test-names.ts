/**
 * Prints the names of the tests in TAP streams, sorted, each once; or what one set of streams has
 * more than another. A name does not say in which file the test is, so files may be split, joined
 * and moved.
 *
 *     npm test -- --reporter=tap >after.log
 *     node dist/test/support/test-names.js after.log
 *     node dist/test/support/test-names.js before.log --after after.log guides.log
 */

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const SUBTEST = /^( *)# Subtest: (.*)$/;
const INDENT = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { after: { type: 'boolean', default: false } },
});
const split = positionals.length - (values.after ? positionals.length - 1 : 0);
const before = namesIn(positionals.slice(0, split));
const after = namesIn(positionals.slice(split));
const print = (names: readonly string[], sign: string): void => {
  for (const name of names) process.stdout.write(`${sign}${name}\n`);
};

if (values.after) {
  print(
    [...before].filter((name) => !after.has(name)),
    '- ',
  );
  print(
    [...after].filter((name) => !before.has(name)),
    '+ ',
  );
  process.stdout.write(`${before.size} before, ${after.size} after\n`);
} else print([...before], '');

/** Names of tests with those of the tests around them, without the file's; sorted. */
function namesIn(files: readonly string[]): ReadonlySet<string> {
  const names = files.flatMap((file) => namesOf(readFileSync(file, 'utf8')));
  return new Set(names.sort());
}

function namesOf(tap: string): readonly string[] {
  const path: string[] = [];
  const names: string[] = [];
  for (const line of tap.split('\n')) {
    const [, indent = '', name] = SUBTEST.exec(line) ?? [];
    if (name === undefined) continue;
    const depth = indent.length / INDENT;
    path.splice(depth, path.length, name);
    if (depth > 0) names.push(path.slice(1).join(' > '));
  }
  return names;
}
